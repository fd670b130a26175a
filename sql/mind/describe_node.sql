create function textrawl.describe_node(
    entity uuid,
    fields jsonb,  -- new values, by column of the table graph_node
    origin textrawl.origin,
    fresh boolean default false  -- true: the node is new, and this is its first version
) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    former jsonb;
    next   jsonb;
    before jsonb;
    after  jsonb;
begin
    select to_jsonb(n) into former from graph_node n where n.space_id = origin.space_id and n.entity_id = describe_node.entity;
    former := coalesce(former, to_jsonb(jsonb_populate_record(null::graph_node, '{}')));
    next := to_jsonb(jsonb_populate_record(jsonb_populate_record(null::graph_node, former), fields || jsonb_build_object(
        'space_id', origin.space_id, 'entity_id', describe_node.entity,
        'version', case when fresh then 1 else coalesce((former ->> 'version')::integer, 1) + 1 end)));
    select jsonb_object_agg(n.key, former -> n.key), jsonb_object_agg(n.key, n.value) into before, after
    from jsonb_each(next) n
    where n.key not in ('space_id', 'entity_id') and n.value <> former -> n.key;
    perform set_node(next);
    perform record_change(describe_node.entity, null, before, after, origin);
    update entity e set updated_at = clock_timestamp() where e.space_id = origin.space_id and e.id = describe_node.entity;
end
$$;

comment on function textrawl.describe_node is
    'Set values of a node, and record the former values for undo. The caller has locked the entity of the node.';
