create function textrawl.edge_record(space integer, relation uuid) returns jsonb
language sql stable
begin atomic
    select jsonb_build_object(
        'edge', (select to_jsonb(d) from textrawl.graph_edge d where d.space_id = space and d.relation_id = edge_record.relation),
        'changes', (select coalesce(jsonb_agg(to_jsonb(c)), '[]') from textrawl.graph_change c
                    where c.space_id = space and c.relation_id = edge_record.relation));
end;

comment on function textrawl.edge_record is
    'All values of an edge, for the revert of an undo.';
