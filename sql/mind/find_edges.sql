create function textrawl.find_edges(
    from_node uuid default null, to_node uuid default null, type text default null,
    deleted boolean default false,     -- true: also deleted edges
    only_valid boolean default false,  -- true: only edges that have not ended
    max_rows integer default 100,
    credential bytea default null, space integer default null
) returns table (edge_id uuid)
language sql stable security definer rows 100
set search_path from current
begin atomic
    select r.id
    from (select textrawl.graph_space(credential, find_edges.space) as id offset 0) home
    join textrawl.local_relations() r on r.space_id = home.id
    left join textrawl.graph_edge d on d.space_id = r.space_id and d.relation_id = r.id
    where (find_edges.from_node is null or r.from_entity = find_edges.from_node)
      and (find_edges.to_node is null or r.to_entity = find_edges.to_node)
      and (find_edges.type is null or r.relation_type = textrawl.relation_key(find_edges.type))
      and (find_edges.deleted or d.deleted_at is null)
      and (not find_edges.only_valid or textrawl.is_valid(r.valid_from, r.valid_until, r.closed_at))
    order by r.created_at desc, r.id limit find_edges.max_rows;
end;

comment on function textrawl.find_edges is
    'The newest edges that have the given ends and the given type. A null end or type does not restrict them. Errors: '
    'TR010, TR011 (access). '
    'Example: select e.* from textrawl.fetch_edges(array(select edge_id from textrawl.find_edges(type => ''knows''))) e;';
