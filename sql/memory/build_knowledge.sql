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
    out proposals uuid[],    -- for a caller who can only propose: first of facts, then of relations; no fact is stored
    out ended integer[],     -- positions of the facts that have ended already
    out closed jsonb,        -- the facts that these ended: [{fact, id, content, why}], see end_former_facts()
    out copies uuid[],       -- other facts that still say what was replaced, see value_copies()
    out same_names text[],   -- for each entity that has another type than its fact says: a name under which the other
                             -- thing can be stored, such as Jordan (person)
    out periods jsonb        -- the begins and ends that were read from texts, by position: {"0": "2016/2021-03"}
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
    new_ids             uuid[] := '{}';  -- of the new facts
    guessed_types       jsonb;
    faults              jsonb := '[]';
    entities            jsonb;  -- the id of each entity, by the names in the call
    origin              origin := open_write(credential, space, 'write', client, tool, request, proposing => true);
    readable            boolean := may_read(credential, origin.space_id);
begin
    facts_created := 0; repeated := '{}'; updated := '{}'; ended := '{}'; periods := '{}';
    faults := list_period_faults(facts, relations);
    if faults <> '[]' then
        raise exception using errcode = 'TR006', message = 'nothing was stored', detail = faults::text;
    end if;
    if must_propose(origin, array(select value ->> 'source' from jsonb_array_elements(facts)) || null::text) then
        facts_duplicate := 0; relations_created := 0;
        proposals := (select p.proposals from propose_all(
            facts, relations, model, embeddings, relation_embeddings, origin, readable) p);
        return;
    end if;
    -- Lock all entities first, in one order, so that two batches with the same names cannot deadlock. An entity
    -- gets the type of its first fact with a type, or else of its first relation with a type: the lowest rank.
    with mention as materialized (
        select entity_key(origin.space_id, name) as key, name_key(name) as spelling, name, type,
            case when type is null then 3 else rank end as rank, ordinality
        from (select value ->> 'entity' as name, value ->> 'type' as type, 1 as rank, ordinality
              from jsonb_array_elements(facts) with ordinality
              union all
              select edge_end.name, edge_end.type, 2, 2 * ordinality + edge_end.side
              from jsonb_array_elements(relations) with ordinality
              cross join lateral (values (value ->> 'from', value ->> 'from_type', 0),
                                         (value ->> 'to', value ->> 'to_type', 1)) edge_end (name, type, side)) given
    ), claimed as materialized (
        -- Claim each name of an entity, because a split that this session waits for gives the names to two entities.
        select named.spelling, named.type, entity.*
        from (select distinct on (key, spelling) spelling, name, first_value(type) over (partition by key order by rank, ordinality) as type
              from mention order by key, spelling, rank, ordinality) named
        cross join lateral claim_entity(named.name, named.type, origin) entity
    )
    select coalesce((select jsonb_object_agg(c.id, c.type) filter (where c.guessed and c.type is not null) from claimed c), '{}'),
        coalesce((select jsonb_object_agg(m.name, c.id) from mention m join claimed c using (spelling)), '{}')
    into guessed_types, entities;
    perform retype_node(key::uuid, value, origin) from jsonb_each_text(guessed_types);

    batch := read_facts(facts, array(select (entities ->> (value ->> 'entity'))::uuid from jsonb_array_elements(facts) with ordinality order by ordinality),
                        embeddings, origin.space_id);
    same_names := case when readable then array(
        select distinct own_name(f.entity_name, f.entity_type, facts -> (f.ordinality::integer - 1) ->> 'type')
        from unnest(batch) with ordinality f
        where own_name(f.entity_name, f.entity_type, facts -> (f.ordinality::integer - 1) ->> 'type') is not null) end;
    -- Store consecutive facts together. Store a fact with `replaces` alone, after the facts before it.
    for chunk in
        select min(ordinality)::integer as first, max(ordinality)::integer as last
        from (select ordinality, replaces is not null as alone, count(replaces) over (order by ordinality) as before
              from unnest(batch) with ordinality) fact
        group by alone, before order by first
    loop
        begin
            select count(*) filter (where not stored.duplicate) as created,
                array_agg(case when not stored.duplicate then stored.observation_id end order by at.place) as ids,
                array_agg(at.place order by at.place) filter (where stored.ended) as ended,
                jsonb_object_agg(at.place, stored.period) filter (where stored.period is not null) as periods,
                array_agg(at.place order by at.place) filter (where stored.duplicate) as repeated,
                array_agg(at.place order by at.place) filter (where stored.updated) as updated,
                jsonb_agg(jsonb_build_object('fact', at.place, 'distance', stored.distance) || stored.closest)
                    filter (where stored.closest is not null) as closest_facts_found
            into stored_chunk
            from store_facts(batch[chunk.first:chunk.last], model, origin) with ordinality stored,
                 lateral (select (chunk.first + stored.ordinality - 2)::integer as place) at;
            facts_created := facts_created + stored_chunk.created;
            new_ids := new_ids || stored_chunk.ids;
            repeated := repeated || stored_chunk.repeated;
            updated := updated || stored_chunk.updated;
            ended := ended || stored_chunk.ended;
            periods := periods || coalesce(stored_chunk.periods, '{}');
            closest_facts_found := closest_facts_found || coalesce(stored_chunk.closest_facts_found, '[]');
        exception when sqlstate 'TR001' or sqlstate 'TR002' or sqlstate 'TR003' then
            faults := faults || jsonb_build_object('path', format('facts[%s].replaces', chunk.first - 1), 'code', sqlstate);
        end;
    end loop;
    facts_duplicate := cardinality(repeated);
    if readable and faults = '[]' then
        closed := end_former_facts(new_ids, origin);
        copies := case when closed is not null or exists (select from unnest(batch) f where f.replaces is not null)
            then value_copies(new_ids, origin) end;
    end if;
    -- Return at most ten closest facts. A longer list would cost more tokens than a query for the entity.
    closest := case when readable then (
        select jsonb_agg(mark_external(origin.space_id, found.value) - 'distance' order by found.value -> 'distance', found.value -> 'fact')
        from (select value from jsonb_array_elements(closest_facts_found)
              where closed is null or not closed @> jsonb_build_array(jsonb_build_object('id', value -> 'id'))
              order by value -> 'distance', value -> 'fact' limit 10) found) end;
    if faults <> '[]' then
        raise exception using errcode = 'TR006', message = 'nothing was stored', detail = faults::text;
    end if;
    relations_created := (
        select count(*) filter (where created)
        from (select array_agg((entities ->> (value ->> 'from'))::uuid order by place) as sources,
                     array_agg(value ->> 'relation' order by place) as kinds,
                     array_agg((entities ->> (value ->> 'to'))::uuid order by place) as targets,
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
    'caller with propose instead of write become proposals, and so does a call with an external fact where they are reviewed. Errors: TR006 (the detail '
    'lists each refused item by its path), TR010 to TR012 (access).';
