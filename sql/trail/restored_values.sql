create function textrawl.restored_values(step textrawl.undone, former jsonb) returns jsonb
language sql stable
begin atomic
    select former || case when former ->> 'entity_id' is null then '{}' else jsonb_build_object('entity_id', coalesce(
        textrawl.find_restored(step.space_id, step.entities, (former ->> 'entity_id')::uuid), (former ->> 'entity_id')::uuid)) end;
end;

comment on function textrawl.restored_values is
    'Values of a row that an undo keeps, with the present id of its entity: the entity can have been created again.';
