create function textrawl.graph_statistics(credential bytea default null, space integer default null)
returns table (
    nodes bigint,
    edges bigint,  -- number of edges that are valid now
    node_types jsonb, edge_types jsonb,  -- the numbers by type
    oldest timestamptz, newest timestamptz  -- when the first and the last node were created
)
language sql stable security definer rows 1
set search_path from current
begin atomic
    with home as materialized (
        select textrawl.graph_space(credential, graph_statistics.space) as id
    ), hidden as materialized (
        select n.entity_id from textrawl.graph_node n where n.space_id = (select id from home) and n.deleted_at is not null
    ), node_count as materialized (
        select textrawl.free_type(e.entity_type, e.metadata) as type, count(*) as count,
            min(e.created_at) as oldest, max(e.created_at) as newest
        from textrawl.local_entities() e
        where e.space_id = (select id from home) and e.id not in (select entity_id from hidden)
        group by 1
    ), edge_count as materialized (
        select r.relation_type as type, count(*) as count from textrawl.local_relations() r
        where r.space_id = (select id from home) and textrawl.is_valid(r.valid_from, r.valid_until, r.closed_at)
          and r.from_entity not in (select entity_id from hidden) and r.to_entity not in (select entity_id from hidden)
        group by 1
    )
    select coalesce((select sum(c.count) from node_count c), 0)::bigint, coalesce((select sum(c.count) from edge_count c), 0)::bigint,
        coalesce((select jsonb_object_agg(c.type, c.count) from node_count c), '{}'),
        coalesce((select jsonb_object_agg(c.type, c.count) from edge_count c), '{}'),
        (select min(c.oldest) from node_count c), (select max(c.newest) from node_count c);
end;

comment on function textrawl.graph_statistics is
    'The numbers of nodes and valid edges of a space, also by type. Errors: TR010, TR011 (access). '
    'Example: select nodes, edges, node_types from textrawl.graph_statistics();';
