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
    source record;
    target record;
begin
    if name_key(from_entity) = name_key(to_entity) then
        raise exception using errcode = 'TR005', message = 'both ends are the same entity';
    end if;
    -- Claim them in the order of their names: two writers cannot deadlock.
    if name_key(from_entity) < name_key(to_entity) then
        source := claim_entity(from_entity, from_type, origin);
        target := claim_entity(to_entity, to_type, origin);
    else
        target := claim_entity(to_entity, to_type, origin);
        source := claim_entity(from_entity, from_type, origin);
    end if;
    from_id := source.id; from_name := source.stored_name; from_stored_type := source.stored_type;
    to_id := target.id; to_name := target.stored_name; to_stored_type := target.stored_type;
    if source.guessed and from_type is not null then
        perform retype_node(from_id, from_type, origin);
        from_stored_type := from_type;
    end if;
    if target.guessed and to_type is not null then
        perform retype_node(to_id, to_type, origin);
        to_stored_type := to_type;
    end if;
    select stored.relation_id, stored.created into relation_id, created
    from store_relations(array[from_id], array[relation], array[to_id], origin) stored;
    if not may_read(credential, origin.space_id) then
        from_name := from_entity; from_stored_type := coalesce(from_type, 'concept');
        to_name := to_entity; to_stored_type := coalesce(to_type, 'concept');
    end if;
end
$$;

comment on function textrawl.relate_entities is
    'Connect two entities and create those that are missing; the same triple is stored once. Without the right to read, the '
    'answer holds only the names and types you sent. Errors: TR005 (both ends are the same), TR010 to TR012 (access). '
    'Example: select * from textrawl.relate_entities(''Ada'', ''works at'', ''Acme Corp'');';
