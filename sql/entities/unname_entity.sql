create function textrawl.unname_entity(
    alias text,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    entity text default null,  -- the entity that must have the alias; null: whichever has it
    out entity_id uuid, out entity_name text, out stored_alias text
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
    perform claim_known(origin.space_id, array[alias]);
    select a.id, a.name, e.id, e.name into alias_id, stored_alias, entity_id, entity_name
    from entity_alias a join entity e on e.space_id = a.space_id and e.id = a.entity_id
    where a.space_id = origin.space_id and a.id = find_alias(origin.space_id, alias);
    if alias_id is null or unname_entity.entity is not null and not exists (
        select from entity e
        where e.space_id = origin.space_id and e.id = entity_id
          and e.name_key = entity_key(origin.space_id, unname_entity.entity)) then
        raise exception using errcode = 'TR035', message = 'no such alias', detail = alias;
    elsif exists (select from merge m where m.space_id = origin.space_id and m.merged_id = alias_id) then
        raise exception using errcode = 'TR036', message = 'the alias is the name of a merged entity', detail = alias;
    end if;
    update entity_alias a set removed_at = clock_timestamp() where a.space_id = origin.space_id and a.id = alias_id;
    perform renew_documents(origin.space_id, array[entity_id]);
    perform record_event('unnamed', entity_id, null, null, origin, jsonb_build_object('alias', alias_id));
end
$$;

comment on function textrawl.unname_entity is
    'Remove an alias from its entity. The name is then free for another entity. Facts that were written under the alias '
    'stay. Needs the scopes read and write. Errors: TR010 to TR012 (access), TR035 (no such alias, or the given entity does not have it), TR036 (the alias is '
    'the name of a merged entity: split it instead). '
    'Example: select * from textrawl.unname_entity(''jmiller'');';
