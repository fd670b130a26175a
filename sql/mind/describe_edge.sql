create function textrawl.describe_edge(
    relation uuid,
    fields jsonb,  -- new values, by column of the table graph_edge; also strength and valid_until of the relation
    origin textrawl.origin,
    fresh boolean default false  -- true: the edge is new, and this is its first version
) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    source uuid;
    former jsonb;
    next   jsonb;
    before jsonb;
    after  jsonb;
begin
    select r.from_entity, edge_values(r.space_id, r.id) into source, former
    from relation r where r.space_id = origin.space_id and r.id = describe_edge.relation;
    next := to_jsonb(jsonb_populate_record(
            jsonb_populate_record(null::graph_edge, former), fields || jsonb_build_object(
                'space_id', origin.space_id, 'relation_id', describe_edge.relation,
                'version', case when fresh then 1 else coalesce((former ->> 'version')::integer, 1) + 1 end)))
        || (select jsonb_build_object('strength', r.strength, 'valid_until', r.valid_until)
            from jsonb_populate_record(jsonb_populate_record(null::relation, former), fields) r);
    select jsonb_object_agg(n.key, former -> n.key), jsonb_object_agg(n.key, n.value) into before, after
    from jsonb_each(next) n
    where n.key not in ('space_id', 'relation_id') and n.value <> former -> n.key;
    perform set_edge(origin.space_id, describe_edge.relation, next);
    perform record_change(source, describe_edge.relation, before, after, origin);
end
$$;

comment on function textrawl.describe_edge is
    'Set values of an edge, and record the former values for undo. The caller has locked the entities of the edge.';
