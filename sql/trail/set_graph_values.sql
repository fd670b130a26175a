create function textrawl.set_graph_values(space integer, kind text, id uuid, former jsonb) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    next jsonb;
begin
    -- Before the mind tools wrote a node or an edge, it had no version.
    if kind = 'entity' and former -> 'version' = 'null' then
        delete from graph_node n where n.space_id = set_graph_values.space and n.entity_id = set_graph_values.id;
    elsif kind = 'entity' then
        select coalesce(to_jsonb(n), '{"version": 1}') || former into next
        from (select) one left join graph_node n on n.space_id = set_graph_values.space and n.entity_id = set_graph_values.id;
        -- Somebody may have forgotten the fact that described the node.
        next := next || jsonb_build_object(
            'space_id', set_graph_values.space, 'entity_id', set_graph_values.id, 'description_id', (
                select f.id from fact f where f.space_id = set_graph_values.space and f.id = (next ->> 'description_id')::uuid));
        perform set_node(next);
    else
        next := edge_values(set_graph_values.space, set_graph_values.id) || former
            || jsonb_build_object('space_id', set_graph_values.space, 'relation_id', set_graph_values.id);
        perform set_edge(set_graph_values.space, set_graph_values.id, next || jsonb_build_object(
            'version', coalesce((next ->> 'version')::integer, 1)));
        delete from graph_edge d
        where d.space_id = set_graph_values.space and d.relation_id = set_graph_values.id and next -> 'version' = 'null';
    end if;
end
$$;

comment on function textrawl.set_graph_values is
    'Set the values of a node (kind entity) or an edge (kind relation) that plan_graph() returned.';
