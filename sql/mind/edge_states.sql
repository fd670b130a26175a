create function textrawl.edge_states(space integer)
returns table (
    space_id integer, relation_id uuid, from_entity uuid, to_entity uuid,
    edge_type text,  -- as the caller wrote it
    relation_type text, weight real, evidence text, properties jsonb, instance text,
    occurred_at timestamptz, valid_from timestamptz, valid_until timestamptz, last_confirmed_at timestamptz,
    version integer, deleted_at timestamptz, created_at timestamptz
)
language sql stable parallel safe
begin atomic
    -- The function sets no options, so that the planner can inline it.
    select r.space_id, r.id, r.from_entity, r.to_entity, coalesce(r.label, r.relation_type), r.relation_type, r.strength,
        d.evidence, coalesce(d.properties, '{}'), d.instance, d.occurred_at, r.valid_from, r.valid_until,
        d.last_confirmed_at, coalesce(d.version, 1), d.deleted_at, r.created_at
    from textrawl.relation r
    left join textrawl.graph_edge d on d.space_id = r.space_id and d.relation_id = r.id
    where r.space_id = edge_states.space;
end;

comment on function textrawl.edge_states is
    'Every relation of a space as an edge, also relations that have ended. '
    'Example: select edge_type, weight, evidence from textrawl.edge_states(1) where deleted_at is null;';
