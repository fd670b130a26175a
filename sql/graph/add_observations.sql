create function textrawl.add_observations(
    additions jsonb, model integer default null, embeddings halfvec[] default null,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (
    place bigint,        -- position in additions, from 1
    name text, entity_type text,
    added text[],        -- the new observations
    observations text[]  -- all observations; if the caller cannot read the space, empty (and entity_type is null)
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin       origin := open_write(credential, space, 'write', client, tool, request);
    nodes        jsonb;
    new_contents jsonb;
    absent       text;
    readable     boolean := may_read(credential, origin.space_id);
begin
    -- Lock and join in one statement. An entity that is created meanwhile is not locked, so it counts as absent.
    with claimed as materialized (
        select e.id, e.name_key from entity e
        where e.space_id = origin.space_id
          and e.name_key in (select entity_key(origin.space_id, value ->> 'entity') from jsonb_array_elements(additions))
        order by e.name_key for no key update
    )
    select coalesce(
            jsonb_agg(jsonb_build_object('id', e.id, 'observations', addition.value -> 'observations') order by addition.ordinality), '[]'),
        min(addition.value ->> 'entity') filter (where e.id is null)
    into nodes, absent
    from jsonb_array_elements(additions) with ordinality addition
    left join claimed e on e.name_key = entity_key(origin.space_id, addition.value ->> 'entity');
    if absent is not null then
        raise exception using errcode = 'TR050', message = 'no such entity', detail = absent;
    end if;
    select coalesce(jsonb_object_agg(new.place, new.contents), '{}') into new_contents
    from (select k.place, jsonb_agg(k.content) as contents
          from keep_observations(nodes, add_observations.model, embeddings, origin) k group by k.place) new;
    return query
        select node.ordinality, case when readable then e.name else additions -> (node.ordinality - 1)::integer ->> 'entity' end,
            case when readable then free_type(e.entity_type, e.metadata) end,
            array(select jsonb_array_elements_text(new_contents -> node.ordinality::text)),
            case when readable then list_observations(e.space_id, e.id) else '{}' end
        from jsonb_array_elements(nodes) with ordinality node
        join entity e on e.space_id = origin.space_id and e.id = (node.value ->> 'id')::uuid
        order by node.ordinality;
end
$$;

comment on function textrawl.add_observations is
    'Add observations [{entity, observations}] to existing entities. If one entity is missing, nothing is stored. The '
    'parameter embeddings has one vector for each observation. Errors: TR050 (no such entity; the detail is the name), '
    'TR010 to TR012 (access).';
