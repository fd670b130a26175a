create function textrawl.build_knowledge(
    facts jsonb default '[]', relations jsonb default '[]',
    model integer default null, embeddings halfvec[] default null, relation_embeddings halfvec[] default null,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out facts_created integer, out facts_duplicate integer, out relations_created integer,
    out repeated integer[],  -- positions (from 0) of the facts that were already stored
    out updated integer[],   -- positions of the repeated facts that got a new source, confidence, end or said_at
    out closest jsonb,       -- for up to ten new facts, nearest first, the closest stored fact: [{fact, id, content}];
                             -- `fact` is the position of the new fact. `closest` is null if the caller cannot read the space
    out proposals uuid[],    -- if the caller can only propose: facts first, then relations; then nothing else was stored
    out ended integer[],     -- positions of the facts that have ended already
    out same_names text[]    -- for each entity of another type: a name for another thing, such as Jordan (person)
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    batch               new_fact[];
    chunk               record;
    stored_chunk        record;
    closest_facts_found jsonb := '[]';
    guessed_types       jsonb;
    faults              jsonb := '[]';
    origin              origin := open_write(credential, space, 'write', client, tool, request, proposing => true);
begin
    facts_created := 0; repeated := '{}'; updated := '{}'; ended := '{}';
    faults := list_period_faults(facts, relations);
    if faults <> '[]' then
        raise exception using errcode = 'TR006', message = 'nothing was stored', detail = faults::text;
    end if;
    if origin.proposed then
        facts_duplicate := 0; relations_created := 0;
        proposals := (select p.proposals from propose_all(
            facts, relations, model, embeddings, relation_embeddings, origin, may_read(credential, origin.space_id)) p);
        return;
    end if;
    -- Lock all entities first, in one order, so that two batches with the same names cannot deadlock.
    select coalesce(
        jsonb_object_agg(claimed.id, entity.type) filter (where claimed.guessed and entity.type is not null), '{}')
    into guessed_types
    from (select distinct on (entity_key(origin.space_id, name)) name, type from (
              select value ->> 'entity' as name, value ->> 'type' as type, case when value ->> 'type' is null then 3 else 1 end as kind, ordinality
              from jsonb_array_elements(facts) with ordinality
              union all
              select value ->> 'from', value ->> 'from_type', case when value ->> 'from_type' is null then 3 else 2 end, ordinality
              from jsonb_array_elements(relations) with ordinality
              union all
              select value ->> 'to', value ->> 'to_type', case when value ->> 'to_type' is null then 3 else 2 end, ordinality
              from jsonb_array_elements(relations) with ordinality) mention
          order by entity_key(origin.space_id, name), kind, ordinality) entity
    cross join lateral claim_entity(entity.name, entity.type, origin) claimed;
    perform retype_node(key::uuid, value, origin) from jsonb_each_text(guessed_types);

    same_names := case when may_read(credential, origin.space_id) then array(
        select distinct own_name(e.name, e.entity_type, value ->> 'type')
        from jsonb_array_elements(facts)
        join entity e on e.space_id = origin.space_id and e.name_key = entity_key(origin.space_id, value ->> 'entity')
        where own_name(e.name, e.entity_type, value ->> 'type') is not null) end;
    batch := read_facts(facts, embeddings, origin.space_id);
    -- Store consecutive facts together. Store a fact with `replaces` alone, after the facts before it.
    for chunk in
        select min(ordinality)::integer as first, max(ordinality)::integer as last
        from (select ordinality, replaces is not null as alone, count(replaces) over (order by ordinality) as before
              from unnest(batch) with ordinality) fact
        group by alone, before order by first
    loop
        begin
            select count(*) filter (where not stored.duplicate) as created,
                array_agg(at.place order by at.place) filter (where stored.ended) as ended,
                array_agg(at.place order by at.place) filter (where stored.duplicate) as repeated,
                array_agg(at.place order by at.place) filter (where stored.updated) as updated,
                jsonb_agg(jsonb_build_object('fact', at.place, 'distance', stored.distance) || stored.closest)
                    filter (where stored.closest is not null) as closest_facts_found
            into stored_chunk
            from store_facts(batch[chunk.first:chunk.last], model, origin) with ordinality stored,
                 lateral (select (chunk.first + stored.ordinality - 2)::integer as place) at;
            facts_created := facts_created + stored_chunk.created;
            repeated := repeated || stored_chunk.repeated;
            updated := updated || stored_chunk.updated;
            ended := ended || stored_chunk.ended;
            closest_facts_found := closest_facts_found || coalesce(stored_chunk.closest_facts_found, '[]');
        exception when sqlstate 'TR001' or sqlstate 'TR002' or sqlstate 'TR003' then
            faults := faults || jsonb_build_object('path', format('facts[%s].replaces', chunk.first - 1), 'code', sqlstate);
        end;
    end loop;
    facts_duplicate := cardinality(repeated);
    -- Return at most ten closest facts. A longer list would cost more tokens than a query for the entity.
    closest := case when may_read(credential, origin.space_id) then (
        select jsonb_agg(found.value - 'distance' order by found.value -> 'distance', found.value -> 'fact')
        from (select value from jsonb_array_elements(closest_facts_found)
              order by value -> 'distance', value -> 'fact' limit 10) found) end;
    if faults <> '[]' then
        raise exception using errcode = 'TR006', message = 'nothing was stored', detail = faults::text;
    end if;
    relations_created := (
        select count(*) filter (where created)
        from (select array_agg((
                         select id from entity
                         where space_id = origin.space_id and name_key = (select entity_key(origin.space_id, value ->> 'from'))) order by place) as sources,
                     array_agg(value ->> 'relation' order by place) as kinds,
                     array_agg((
                         select id from entity
                         where space_id = origin.space_id and name_key = (select entity_key(origin.space_id, value ->> 'to'))) order by place) as targets,
                     array_agg(find_alias(origin.space_id, value ->> 'from') order by place)
                         || array_agg(find_alias(origin.space_id, value ->> 'to') order by place) as aliases,
                     array_agg((value ->> 'valid_from')::timestamptz order by place) as begins,
                     array_agg((value ->> 'valid_until')::timestamptz order by place) as ends
              from jsonb_array_elements(relations) with ordinality r (value, place)) edge,
             store_relations(edge.sources, edge.kinds, edge.targets, origin,
                             model => build_knowledge.model, vectors => relation_embeddings, aliases => edge.aliases,
                             valid_from => edge.begins, valid_until => edge.ends));
end
$$;

comment on function textrawl.build_knowledge is
    'Store facts [{entity, type, observation, source, confidence, valid_from, valid_until, said_at, replaces}] and then '
    'relations [{from, relation, to, from_type, to_type, valid_from, valid_until}]. If one item is refused, nothing is stored. The items of a '
    'caller with propose instead of write become proposals. Errors: TR006 (the detail '
    'lists each refused item by its path), TR010 to TR012 (access).';
