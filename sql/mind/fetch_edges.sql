create function textrawl.fetch_edges(
    edges uuid[], deleted boolean default false,  -- true: also deleted edges
    credential bytea default null, space integer default null
) returns table (
    edge_id uuid, from_id uuid, to_id uuid, edge_type text, weight real, evidence text, properties jsonb, instance text,
    occurred_at timestamptz, valid_until timestamptz, last_confirmed_at timestamptz, version integer,
    deleted_at timestamptz, created_at timestamptz
)
language sql stable security definer rows 10
set search_path from current
begin atomic
    select s.relation_id, s.from_entity, s.to_entity, s.edge_type, s.weight, s.evidence, s.properties, s.instance,
        s.occurred_at, s.valid_until, s.last_confirmed_at, s.version, s.deleted_at, s.created_at
    from (select textrawl.graph_space(credential, fetch_edges.space) as id offset 0) home
    cross join unnest(fetch_edges.edges) with ordinality input(id, place)
    cross join lateral (select * from textrawl.edge_states(home.id) e where e.relation_id = input.id offset 0) s
    where fetch_edges.deleted or s.deleted_at is null
    order by input.place;
end;

comment on function textrawl.fetch_edges is
    'The edges with the given ids, in the order of the ids. Unknown ids are left out. Errors: TR010, TR011 (access). '
    'Example: select edge_type, weight from textrawl.fetch_edges(array(select id from textrawl.relation));';
