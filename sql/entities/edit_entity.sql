create function textrawl.edit_entity(
    entity text,
    name text default null, type text default null, description text default null,  -- null: it stays as it is
    model integer default null, embedding halfvec default null,  -- the vector of the description
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out entity_id uuid, out entity_name text
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
begin
    perform open_write(credential, origin.space_id, 'read', client, tool, request);
    entity_id := (claim_named(array[entity], origin))[1];
    if type is not null then
        perform retype_entity(entity, type, credential, origin.space_id, client, tool, request);
    end if;
    if description is not null then
        perform set_description(entity, description, model, embedding, credential, origin.space_id, client, tool, request);
    end if;
    if name is not null then
        select r.entity_id into entity_id from rename_entity(entity, name, credential, origin.space_id, client, tool, request) r;
    end if;
    select e.name into entity_name from entity e where e.space_id = origin.space_id and e.id = entity_id;
end
$$;

comment on function textrawl.edit_entity is
    'Set the name, the type and the description of an entity, all or none. Errors: those of rename_entity(), '
    'retype_entity() and set_description(). '
    'Example: select * from textrawl.edit_entity(''Jeff'', name => ''Jeffrey'', type => ''person'');';
