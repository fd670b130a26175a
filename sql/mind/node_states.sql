create function textrawl.node_states(space integer)
returns table (
    space_id integer, entity_id uuid, name text, label text, node_type text, description text, confidence real,
    properties jsonb, instance text, memory text, first_learned_at timestamptz, last_confirmed_at timestamptz,
    version integer, deleted_at timestamptz, created_at timestamptz, updated_at timestamptz
)
language sql stable parallel safe
begin atomic
    -- The function sets no options, so that the planner can inline it.
    select e.space_id, e.id, e.name, coalesce(n.label, e.name), textrawl.free_type(e.entity_type, e.metadata),
        coalesce(case when n.description_id is not null
                 then (textrawl.node_description(e.space_id, e.id, n.description_id)).content end, e.description),
        coalesce(n.confidence, 0.5::real), coalesce(n.properties, '{}'), n.instance, n.memory,
        coalesce(n.first_learned_at, e.created_at), n.last_confirmed_at,
        coalesce(n.version, 1), n.deleted_at, e.created_at, e.updated_at
    from textrawl.entity e
    left join textrawl.graph_node n on n.space_id = e.space_id and n.entity_id = e.id
    where e.space_id = node_states.space;
end;

comment on function textrawl.node_states is
    'Every entity of a space as a node. An entity that the mind tools did not write has a confidence of 0.5, and was '
    'first learned when it was created. '
    'Example: select label, node_type, confidence from textrawl.node_states(1) where deleted_at is null;';
