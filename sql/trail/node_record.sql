create function textrawl.node_record(space integer, entity uuid) returns jsonb
language sql stable
begin atomic
    select jsonb_build_object(
        'node', (select to_jsonb(n) from textrawl.graph_node n where n.space_id = space and n.entity_id = node_record.entity),
        'changes', (select coalesce(jsonb_agg(to_jsonb(c)), '[]') from textrawl.graph_change c
                    where c.space_id = space and c.entity_id = node_record.entity),
        'aliases', (select coalesce(jsonb_agg(to_jsonb(a)), '[]') from textrawl.entity_alias a
                    where a.space_id = space and a.entity_id = node_record.entity));
end;

comment on function textrawl.node_record is
    'All values of a node and the aliases of its entity, for the revert of an undo.';
