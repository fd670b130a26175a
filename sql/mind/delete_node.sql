create function textrawl.delete_node(
    node uuid,
    permanent boolean default false,  -- true: forget the entity with all its facts and relations
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (facts bigint, edges bigint)  -- number of facts and edges that were deleted with the node
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin    origin := open_write(credential, space, 'forget', client, tool, request);
    moment    timestamptz;
    name      text;
    relations uuid[];
begin
    if permanent then
        -- forget_entity() locks rows in its own order, so do not lock rows before this call.
        select e.name into name from entity e where e.space_id = origin.space_id and e.id = delete_node.node;
        if name is null then
            raise exception using errcode = 'TR080', message = 'no such node', detail = delete_node.node::text;
        end if;
        return query select f.facts, f.relations
            from forget_entity(name, null, false, credential, origin.space_id, client, tool, request) f;
        return;
    end if;
    perform claim_live_node(delete_node.node, origin, for_removal => true);
    moment := clock_timestamp();
    relations := array(
        select r.id from relation r
        left join graph_edge d on d.space_id = r.space_id and d.relation_id = r.id
        where r.space_id = origin.space_id and delete_node.node in (r.from_entity, r.to_entity) and d.deleted_at is null
        order by r.id);
    perform end_relations(relations, moment, origin);
    perform describe_edge(r.id, jsonb_build_object('deleted_at', moment), origin) from unnest(relations) r(id);
    edges := cardinality(relations);
    facts := end_facts(
        array(select f.id from fact f where f.space_id = origin.space_id and f.entity_id = delete_node.node), moment, origin);
    perform describe_node(delete_node.node, jsonb_build_object('deleted_at', moment), origin);
    return next;
end
$$;

comment on function textrawl.delete_node is
    'Delete a node with its edges. Its facts and relations end now, and queries with as_of still find them. Undo '
    'revives the node, its facts and its edges, unless the node was deleted permanently. Errors: TR080 (no such node), '
    'TR010 to TR012 (access).';
