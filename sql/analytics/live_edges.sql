create function textrawl.live_edges(space integer, entity uuid)
returns table (
    relation_id uuid,
    other uuid,     -- the entity at the other end
    relation_type text,
    leaves boolean  -- true if the relation begins at this entity
)
language sql stable rows 10
begin atomic
    -- Use two branches. If one condition covered both ends, Postgres would read every relation of the space.
    select r.id, r.to_entity, r.relation_type, true from textrawl.relation r
    where r.space_id = space and r.from_entity = entity and textrawl.is_valid(r.valid_from, r.valid_until)
    union all
    select r.id, r.from_entity, r.relation_type, false from textrawl.relation r
    where r.space_id = space and r.to_entity = entity and textrawl.is_valid(r.valid_from, r.valid_until);
end;

comment on function textrawl.live_edges is
    'The valid relations of an entity, in both directions.';
