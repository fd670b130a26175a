create function textrawl.claim_entity(
    name text, type text, origin textrawl.origin,
    out id uuid, out stored_name text, out stored_type text, out guessed boolean
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    wanted text := name_key(claim_entity.name);
    created boolean;
begin
    -- The row lock makes writers of one entity wait for each other, so that the same fact told twice
    -- at once is stored once. Looking first keeps the common case free of a dead row.
    select e.id, e.name, e.entity_type, e.type_guessed into id, stored_name, stored_type, guessed
    from entity e where e.space_id = origin.space_id and e.name_key = wanted for no key update;
    if id is not null then
        return;
    end if;
    insert into entity as e (space_id, name, name_key, entity_type, type_guessed, fts)
    values (origin.space_id, claim_entity.name, wanted, coalesce(type, 'concept'), type is null,
            to_tsvector('simple', search_text(claim_entity.name)))
    on conflict (space_id, name_key) do update set name = e.name
    returning e.id, e.name, e.entity_type, e.type_guessed, e.xmax = 0 into id, stored_name, stored_type, guessed, created;
    if created then
        perform record_event('created', id, null, null, origin);
    end if;
end
$$;

comment on function textrawl.claim_entity is
    'Gets or creates an entity and keeps other writers of it waiting until the transaction ends. Null as type makes a concept and marks the type as guessed; retype_node() gives such a one the first type that is said.';
