create function textrawl.path_between(from_entity text, to_entity text, max_depth integer default 4)
returns table (
    step integer, space text, entity_name text, relation_type text,
    leads boolean,  -- true if the relation points from entity_name to next_entity
    next_entity text
)
language sql stable
begin atomic
    with recursive from_start as (
        select e.space_id, e.id, array[e.id] as passed
        from textrawl.entity e where (e.space_id, e.id) in (
            select f.space_id, f.entity_id from textrawl.find_entities(textrawl.session_spaces(), path_between.from_entity) f)
        union all
        select h.space_id, edge.other, h.passed || edge.other
        from from_start h cross join lateral textrawl.live_edges(h.space_id, h.id) edge
        where cardinality(h.passed) <= (least(max_depth, 8) + 1) / 2 and edge.other <> all(h.passed)
    ), from_end as (
        select e.space_id, e.id, array[e.id] as passed
        from textrawl.entity e where (e.space_id, e.id) in (
            select f.space_id, f.entity_id from textrawl.find_entities(textrawl.session_spaces(), path_between.to_entity) f)
        union all
        select t.space_id, edge.other, edge.other || t.passed
        from from_end t cross join lateral textrawl.live_edges(t.space_id, t.id) edge
        where cardinality(t.passed) <= least(max_depth, 8) / 2 and edge.other <> all(t.passed)
    ), outward as materialized (
        -- Search half of the path from each end, because two small neighbourhoods have fewer entities than one large
        -- neighbourhood.
        select * from from_start limit 20000
    ), inward as materialized (
        select * from from_end limit 20000
    ), met as (
        select o.space_id, o.passed || i.passed[2:] as passed
        from outward o join inward i on i.space_id = o.space_id and i.id = o.id
        where not o.passed[:cardinality(o.passed) - 1] && i.passed
        order by cardinality(o.passed) + cardinality(i.passed), 2 limit 1
    )
    select hop.step, s.name, e.name, edge.relation_type, edge.leaves, other.name
    from met
    cross join lateral generate_series(1, cardinality(met.passed) - 1) as hop (step)
    cross join lateral (
        select l.relation_type, l.leaves from textrawl.live_edges(met.space_id, met.passed[hop.step]) l
        where l.other = met.passed[hop.step + 1] order by l.leaves desc, l.relation_type limit 1) edge
    join textrawl.entity e on e.space_id = met.space_id and e.id = met.passed[hop.step]
    join textrawl.entity other on other.space_id = met.space_id and other.id = met.passed[hop.step + 1]
    join textrawl.space s on s.id = met.space_id
    order by hop.step;
end;

comment on function textrawl.path_between is
    'A shortest path between two entities over valid relations in either direction, one row for each step. The path '
    'has at most max_depth relations, and never more than 8. If there is no row, no path was found among the first '
    '20,000 paths from each end. '
    'Example: select * from textrawl.path_between(''Ada'', ''Acme Corp'');';
