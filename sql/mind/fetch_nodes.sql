create function textrawl.fetch_nodes(
    nodes uuid[], deleted boolean default false,  -- true: also deleted nodes
    credential bytea default null, space integer default null
) returns table (
    node_id uuid, name text, label text, node_type text, description text, confidence real, properties jsonb,
    instance text, memory text, first_learned_at timestamptz, last_confirmed_at timestamptz,
    version integer, deleted_at timestamptz, created_at timestamptz, updated_at timestamptz
)
language sql stable security definer rows 10
set search_path from current
begin atomic
    select s.entity_id, s.name, s.label, s.node_type, s.description, s.confidence, s.properties, s.instance, s.memory,
        s.first_learned_at, s.last_confirmed_at, s.version, s.deleted_at, s.created_at, s.updated_at
    from (select textrawl.graph_space(credential, fetch_nodes.space) as id offset 0) home
    cross join unnest(fetch_nodes.nodes) with ordinality input(id, place)
    cross join lateral (select * from textrawl.node_states(home.id) n where n.entity_id = input.id offset 0) s
    where fetch_nodes.deleted or s.deleted_at is null
    order by input.place;
end;

comment on function textrawl.fetch_nodes is
    'The nodes with the given ids, in the order of the ids. Unknown ids are left out. Errors: TR010, TR011 (access). '
    'Example: select label, description from textrawl.fetch_nodes(array(select id from textrawl.entity));';
