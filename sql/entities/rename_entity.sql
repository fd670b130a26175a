create function textrawl.rename_entity(
    entity text, name text,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out entity_id uuid, out entity_name text
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
    former entity;
begin
    perform open_write(credential, origin.space_id, 'read', client, tool, request);
    entity_id := (claim_named(array[rename_entity.entity], origin))[1];
    select e.* into former from entity e where e.space_id = origin.space_id and e.id = entity_id;
    entity_name := rename_entity.name;
    if former.name = entity_name then
        return;
    elsif former.name_key = name_key(entity_name) then
        update entity e set name = entity_name where e.space_id = origin.space_id and e.id = entity_id;
        perform renew_documents(origin.space_id, array[entity_id]);
        perform record_event('named', entity_id, null, null, origin);
        return;
    end if;
    -- The new name is first the name of an empty entity, and then the entity is merged into it. So the former name still
    -- leads here, and a split knows how to take it back.
    if exists (select from merge m where m.space_id = origin.space_id and m.kept_id = former.id
                 and m.merged_id = find_alias(origin.space_id, entity_name)) then
        perform split_entity(entity_name, false, credential, origin.space_id, client, tool, request);
    else
        if find_alias(origin.space_id, entity_name) is not null then
            perform unname_entity(entity_name, credential, origin.space_id, client, tool, request, former.name);
        end if;
        if not (claim_entity(entity_name, null, origin,
                             former.metadata - 'retyped', clock_timestamp())).created then
            raise exception using errcode = 'TR034', message = 'the name belongs to another entity', detail = entity_name;
        end if;
        update entity e set entity_type = former.entity_type, type_guessed = former.type_guessed
        where e.space_id = origin.space_id and e.name_key = name_key(entity_name);
    end if;
    select m.kept_id into entity_id
    from merge_entities(entity_name, former.name, false, credential, origin.space_id, client, tool, request) m;
end
$$;

comment on function textrawl.rename_entity is
    'Give an entity another name. The former name becomes an alias, so that it still leads to the entity. Needs the scopes '
    'read and write. Errors: TR010 to TR012 (access), TR034 (the name belongs to another entity), TR035 (it is an alias of another '
    'entity), TR038 (the entity holds the text of a document), TR050 (no such entity). '
    'Example: select * from textrawl.rename_entity(''Jeff'', ''Jeffrey'');';
