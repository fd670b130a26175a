create function textrawl.graph_insights(credential bytea default null, space integer default null)
returns table (
    kind text,        -- bridge or cluster
    title text,       -- the label of the bridge, or the type of the nodes of the cluster
    count bigint,     -- number of edges of the bridge, or of nodes of the cluster
    node_ids uuid[],
    edge_ids uuid[],  -- the ten strongest edges of the bridge
    confidence double precision
)
language sql stable security definer rows 20
set search_path from current
begin atomic
    with home as materialized (
        select textrawl.graph_space(credential, graph_insights.space) as id
    ), hidden as materialized (
        select n.entity_id from textrawl.graph_node n where n.space_id = (select id from home) and n.deleted_at is not null
    ), live as materialized (
        select r.id, r.from_entity, r.to_entity, r.strength from textrawl.local_relations() r
        where r.space_id = (select id from home) and textrawl.is_valid(r.valid_from, r.valid_until, r.closed_at)
          and r.from_entity not in (select entity_id from hidden) and r.to_entity not in (select entity_id from hidden)
    ), bridge as materialized (
        select ends.node, count(*) as edges
        from (select from_entity as node from live
              union all select to_entity from live where to_entity <> from_entity) ends
        group by ends.node having count(*) >= 3
        order by count(*) desc, ends.node limit 5
    ), cluster as materialized (
        select textrawl.free_type(e.entity_type, e.metadata) as type, count(*) as nodes
        from textrawl.local_entities() e
        where e.space_id = (select id from home) and e.id not in (select entity_id from hidden)
        group by 1 having count(*) >= 3
        order by count(*) desc, 1 limit 50
    ), found as (
        select 0 as turn, 'bridge' as kind, s.label as title, b.edges as count, array[b.node] as node_ids,
            array(select l.id from live l where b.node in (l.from_entity, l.to_entity)
                  order by l.strength desc, l.id limit 10) as edge_ids,
            least(b.edges / 10.0, 0.9)::double precision as confidence
        from bridge b
        cross join home
        cross join lateral (select * from textrawl.node_states(home.id) n where n.entity_id = b.node offset 0) s
        union all
        select 1, 'cluster', c.type, c.nodes, array(
                select e.id from textrawl.local_entities() e
                where e.space_id = (select id from home) and textrawl.free_type(e.entity_type, e.metadata) = c.type
                  and e.id not in (select entity_id from hidden)
                order by e.created_at, e.id limit 10),
            '{}', 0.7
        from cluster c
    )
    select f.kind, f.title, f.count, f.node_ids, f.edge_ids, f.confidence
    from found f order by f.turn, f.count desc, f.title, f.node_ids;
end;

comment on function textrawl.graph_insights is
    'First the bridges: the five nodes with the most valid edges, if they have at least three. Then the clusters: the '
    'types with at least three nodes, at most 50, each with its ten oldest nodes. Errors: TR010, TR011 (access). '
    'Example: select kind, title, count from textrawl.graph_insights();';
