create function textrawl.claim_entity(
    name text, type text, origin textrawl.origin,
    out id uuid, out stored_name text, out stored_type text,
    out guessed boolean  -- its type was never stated
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    wanted_key text := name_key(claim_entity.name);
    created boolean;
begin
    -- The row lock makes writers of one entity wait for each other, so two of them cannot store the same fact twice.
    -- Look first: an insert that conflicts would leave a dead row each time.
    select e.id, e.name, e.entity_type, e.type_guessed into id, stored_name, stored_type, guessed
    from entity e where e.space_id = origin.space_id and e.name_key = wanted_key for no key update;
    if id is not null then
        return;
    end if;
    insert into entity as e (space_id, name, name_key, entity_type, type_guessed, fts)
    values (origin.space_id, claim_entity.name, wanted_key, coalesce(type, 'concept'), type is null,
            to_tsvector('simple', search_text(claim_entity.name)))
    on conflict (space_id, name_key) do update set name = e.name
    returning e.id, e.name, e.entity_type, e.type_guessed, e.xmax = 0
    into id, stored_name, stored_type, guessed, created;
    if created then
        perform record_event('created', id, null, null, origin);
    end if;
end
$$;

comment on function textrawl.claim_entity is
    'Return an entity, create it if it is missing, and lock it until the transaction ends. Without a type it becomes a '
    'concept until retype_node() sets the first type that is stated.';
