create function textrawl.relate_entities(
    from_entity text, relation text, to_entity text,
    from_type text default null, to_type text default null,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out relation_id uuid, out created boolean,
    out from_id uuid, out from_name text, out from_stored_type text,
    out to_id uuid, out to_name text, out to_stored_type text
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
begin
    if name_key(from_entity) = name_key(to_entity) then
        raise exception using errcode = 'TR005', message = 'both ends are the same entity';
    end if;
    -- Always in the order of the names, so that two writers never wait for each other in a circle.
    if name_key(from_entity) < name_key(to_entity) then
        select * into from_id, from_name, from_stored_type from claim_entity(from_entity, coalesce(from_type, 'concept'), origin);
        select * into to_id, to_name, to_stored_type from claim_entity(to_entity, coalesce(to_type, 'concept'), origin);
    else
        select * into to_id, to_name, to_stored_type from claim_entity(to_entity, coalesce(to_type, 'concept'), origin);
        select * into from_id, from_name, from_stored_type from claim_entity(from_entity, coalesce(from_type, 'concept'), origin);
    end if;
    select stored.relation_id, stored.created into relation_id, created
    from store_relations(array[from_id], array[relation], array[to_id], origin) stored;
end
$$;

comment on function textrawl.relate_entities is
    'Connects two entities, creating those that are missing; the same triple twice is one relation. Errors: TR005 (both ends are the same), TR010 to TR012 (access). Example: select * from textrawl.relate_entities(''Ada'', ''works at'', ''Acme Corp'');';
