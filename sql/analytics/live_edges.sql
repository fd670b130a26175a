create function textrawl.live_edges(space integer, entity uuid, as_of timestamptz default null)
returns table (
    relation_id uuid,
    other uuid,     -- the entity at the other end
    relation_type text,
    leaves boolean, -- true if the relation begins at this entity
    created_at timestamptz
)
language sql stable rows 10
begin atomic
    -- Use two branches. If one condition covered both ends, Postgres would read every relation of the space.
    select r.id, r.to_entity, r.relation_type, true, r.created_at from textrawl.relation r
    where r.space_id = space and r.from_entity = entity and textrawl.is_valid(r.valid_from, r.valid_until, r.closed_at, as_of)
    union all
    select r.id, r.from_entity, r.relation_type, false, r.created_at from textrawl.relation r
    where r.space_id = space and r.to_entity = entity and textrawl.is_valid(r.valid_from, r.valid_until, r.closed_at, as_of);
end;

comment on function textrawl.live_edges is
    'The valid relations of an entity, in both directions. If as_of is given, the relations that were valid then.';
