create function textrawl.relate_entities(
    from_entity text, relation text, to_entity text,
    from_type text default null, to_type text default null,
    replaces boolean default false,  -- end other relations of this type that start at the same entity
    model integer default null, embedding halfvec default null,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out relation_id uuid, out created boolean,
    out from_id uuid, out from_name text, out from_stored_type text,
    out to_id uuid, out to_name text, out to_stored_type text,
    out ended text[],     -- targets of the relations that ended; null if the caller cannot read
    out proposal_id uuid  -- if the caller can only propose; then no relation was stored
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    origin origin := open_write(credential, space, 'write', client, tool, request, proposing => true);
    source record;
    target record;
    part   record;
begin
    if entity_key(origin.space_id, from_entity) = entity_key(origin.space_id, to_entity) then
        raise exception using errcode = 'TR005', message = 'both ends are the same entity';
    end if;
    if origin.proposed then
        from_name := from_entity; from_stored_type := coalesce(from_type, 'concept');
        to_name := to_entity; to_stored_type := coalesce(to_type, 'concept');
        select p.proposal_id, not p.duplicate into proposal_id, created
        from propose_one('[]', jsonb_build_array(jsonb_build_object(
            'from', from_entity, 'relation', relation, 'to', to_entity, 'from_type', from_type, 'to_type', to_type,
            'replaces', replaces)), model, embedding, origin, may_read(credential, origin.space_id)) p;
        return;
    end if;
    -- Lock the entities in the order of their names, so that two writers cannot deadlock.
    for part in
        select 'source' as part, entity_key(origin.space_id, from_entity) as key
        union all
        select 'target', entity_key(origin.space_id, to_entity)
        union all
        select 'former', t.name_key
        from entity s
        join relation r on r.space_id = s.space_id and r.from_entity = s.id
        join entity t on t.space_id = r.space_id and t.id = r.to_entity
        where replaces and s.space_id = origin.space_id and s.name_key = entity_key(origin.space_id, from_entity)
          and r.relation_type = relation_key(relation) and r.valid_until is null
        order by key
    loop
        case part.part
            when 'source' then source := claim_entity(from_entity, from_type, origin);
            when 'target' then target := claim_entity(to_entity, to_type, origin);
            else perform from entity e where e.space_id = origin.space_id and e.name_key = part.key for no key update;
        end case;
    end loop;
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
    if replaces then
        ended := end_relations(array(
            select r.id from relation r
            where r.space_id = origin.space_id and r.from_entity = from_id and r.relation_type = relation_key(relation)
              and r.to_entity <> to_id), clock_timestamp(), origin);
    end if;
    select stored.relation_id, stored.created into relation_id, created
    from store_relations(
        array[from_id], array[relation], array[to_id], origin, model => relate_entities.model, vectors => array[embedding],
        aliases => array[find_alias(origin.space_id, from_entity), find_alias(origin.space_id, to_entity)]) stored;
    if not may_read(credential, origin.space_id) then
        from_name := from_entity; from_stored_type := coalesce(from_type, 'concept');
        to_name := to_entity; to_stored_type := coalesce(to_type, 'concept'); ended := null;
    end if;
end
$$;

comment on function textrawl.relate_entities is
    'Connect two entities by a relation, and create the entities that are missing. A relation that exists is not '
    'stored again. If "replaces" is true, end other relations of this type that start at the same entity. A caller '
    'that cannot read gets back only the names and types that it sent. The relation of a caller with propose instead of '
    'write becomes a proposal. Errors: TR005 (both ends are the same entity), '
    'TR010 to TR012 (access). '
    'Example: select * from textrawl.relate_entities(''Ada'', ''works at'', ''Acme Corp'');';
