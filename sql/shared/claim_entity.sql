create function textrawl.claim_entity(
    name text, type text, origin textrawl.origin,
    metadata jsonb default null, moment timestamptz default now(),  -- used only for a new entity
    out id uuid, out stored_name text, out stored_type text,
    out guessed boolean,  -- true if no caller has stated its type yet
    out created boolean
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    given_key  text := name_key(claim_entity.name);
    wanted_key text := given_key;
    next_key   text;
begin
    loop
        -- The row lock makes writers of one entity wait for each other, so two writers cannot store the same fact
        -- twice. Look for the entity before inserting it, because most entities exist.
        select e.id, e.name, e.entity_type, e.type_guessed into id, stored_name, stored_type, guessed
        from entity e where e.space_id = origin.space_id and e.name_key = wanted_key for no key update;
        created := not found;
        exit when not created and wanted_key = given_key;
        -- Only a name without an entity can be an alias. Lock the entity of the alias. Then look again, because another
        -- session can have split the entity or removed the alias before this session got the lock.
        next_key := entity_key(origin.space_id, given_key);
        exit when not created and next_key = wanted_key;
        if next_key <> wanted_key then
            wanted_key := next_key;
            continue;
        end if;
        stored_name := claim_entity.name; stored_type := nearest_type(type); guessed := type is null;
        id := insert_entity(origin.space_id, stored_name, wanted_key, stored_type, guessed,
                            coalesce(claim_entity.metadata, jsonb_strip_nulls(jsonb_build_object('type', nullif(type, stored_type)))),
                            created_at => moment, updated_at => moment);
        -- Null means that another session has just created the entity. Repeat the loop to lock that entity.
        exit when id is not null;
    end loop;
    if created then
        perform record_event('created', id, null, null, origin);
    end if;
end
$$;

comment on function textrawl.claim_entity is
    'Return the entity with a name or an alias, create it if it is missing, and lock it until the transaction ends. If the '
    'type is none of the seven, a new entity gets the nearest_type(), and keeps the word. An entity without a stated type is '
    'a concept until retype_node() sets the first type that a caller states.';
