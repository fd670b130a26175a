create function textrawl.name_entity(
    entity text, alias text,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out entity_id uuid, out entity_name text, out stored_alias text,
    out added boolean  -- false if the entity had this name or alias already
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin   origin := open_write(credential, space, 'write', client, tool, request);
    alias_id uuid;
begin
    perform open_write(credential, origin.space_id, 'read', client, tool, request);
    entity_id := (claim_named(array[name_entity.entity], origin))[1];
    select e.name into entity_name from entity e where e.space_id = origin.space_id and e.id = entity_id;
    stored_alias := alias;
    added := entity_key(origin.space_id, alias) <> name_key(entity_name);
    if not added then
        return;
    end if;
    insert into entity_alias (space_id, entity_id, name, name_key, author_id, client, tool, request, removed_at)
    values (origin.space_id, entity_id, alias, name_key(alias), origin.author_id, origin.client, origin.tool, origin.request, now())
    returning id into alias_id;
    if not use_alias(origin.space_id, alias_id) then
        raise exception using errcode = 'TR034', message = 'the name belongs to another entity', detail = alias;
    end if;
    perform extend_documents(origin.space_id, entity_id);
    perform record_event('named', entity_id, null, null, origin, jsonb_build_object('alias', alias_id));
end
$$;

comment on function textrawl.name_entity is
    'Give an entity an alias. From then on, every function that takes a name also takes the alias, and a search for the '
    'alias finds the facts of the entity. Needs the scopes read and write. Errors: TR010 to TR012 (access), TR034 (the '
    'name belongs to another entity), TR050 (no such entity). '
    'Example: select * from textrawl.name_entity(''Jeff'', ''jmiller'');';
