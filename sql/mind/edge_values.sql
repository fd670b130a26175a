create function textrawl.edge_values(space integer, relation uuid) returns jsonb
language sql stable
begin atomic
    select coalesce(to_jsonb(d), to_jsonb(jsonb_populate_record(null::textrawl.graph_edge, '{}')))
        || jsonb_build_object('strength', r.strength, 'valid_from', r.valid_from, 'valid_until', r.valid_until)
    from textrawl.relation r left join textrawl.graph_edge d on d.space_id = r.space_id and d.relation_id = r.id
    where r.space_id = edge_values.space and r.id = edge_values.relation;
end;

comment on function textrawl.edge_values is
    'The values of an edge by column: all columns of graph_edge, and strength and valid_until of its relation.';
