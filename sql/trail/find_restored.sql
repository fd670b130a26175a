create function textrawl.find_restored(space integer, entities jsonb, entity uuid) returns uuid
language sql stable
begin atomic
    select e.id from jsonb_array_elements(entities) kept
    join textrawl.entity e on e.space_id = space and e.name_key = textrawl.entity_key(space, kept.value ->> 'name_key')
    where kept.value ->> 'id' = entity::text;
end;

comment on function textrawl.find_restored is
    'The present id of an entity that an undo keeps. The id is different if the entity was created again under the '
    'same name.';
