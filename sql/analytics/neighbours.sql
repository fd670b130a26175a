create function textrawl.neighbours(entity text, depth integer default 1, max_rows integer default 100)
returns table (
    depth integer, space text, entity_name text, entity_type text,
    way text  -- a shortest path to the entity
)
language sql stable
begin atomic
    with recursive walk as (
        select e.space_id, e.id, 0 as depth, array[e.id] as passed, e.name as path
        from textrawl.entity e where (e.space_id, e.id) in (
            select f.space_id, f.entity_id from textrawl.find_entities(textrawl.session_spaces(), neighbours.entity) f)
        union all
        select w.space_id, edge.other, w.depth + 1, w.passed || edge.other,
            w.path || case when edge.leaves then ' -' || edge.relation_type || '-> ' else ' <-' || edge.relation_type || '- ' end || e.name
        from walk w
        cross join lateral textrawl.live_edges(w.space_id, w.id) edge
        join textrawl.entity e on e.space_id = w.space_id and e.id = edge.other
        where w.depth < least(neighbours.depth, 6) and edge.other <> all(w.passed)
    ), bounded as (
        -- The recursion proceeds level by level, so the limit cuts off the most distant entities.
        select * from walk limit 20000
    ), nearest as (
        select distinct on (l.space_id, l.id) l.* from bounded l order by l.space_id, l.id, l.depth, l.path
    )
    select n.depth, s.name, e.name, e.entity_type, n.path
    from nearest n
    join textrawl.entity e on e.space_id = n.space_id and e.id = n.id
    join textrawl.space s on s.id = n.space_id
    where n.depth > 0
    order by n.depth, e.name, s.name limit max_rows;
end;

comment on function textrawl.neighbours is
    'Entities that a path of valid relations in either direction connects with an entity, nearest first. A path has at '
    'most as many relations as the parameter depth says, and never more than 6. At most 20,000 paths are followed. '
    'Example: select depth, entity_name, way from textrawl.neighbours(''Ada'', depth => 2);';
