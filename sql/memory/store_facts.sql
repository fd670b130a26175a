create function textrawl.store_facts(facts textrawl.new_fact[], model integer, origin textrawl.origin)
returns table (
    observation_id uuid, duplicate boolean, updated boolean, closest jsonb, distance double precision,
    ended boolean,  -- the fact has ended already
    before uuid,    -- the fact that `replaces` named, if the new fact begins earlier and so cannot replace it
    period text     -- the begin and the end that were read from the text of a new fact
)
language plpgsql volatile
set search_path from current
-- Use one plan for any number of rows. Otherwise Postgres would plan each call again.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    space integer := origin.space_id;
    -- The facts get times one microsecond apart. Read the clock first, so that no fact gets a time in the future.
    moment           timestamptz := clock_timestamp();
    step             interval := '1 microsecond';
    duplicates       uuid[];
    details          jsonb[] := array_fill('{}'::jsonb, array[cardinality(facts)]);
    updates          boolean[] := array_fill(false, array[cardinality(facts)]);  -- a duplicate got another value
    repeat           record;
    closest_by_place jsonb;
    replaced         uuid;
    changed          boolean := false;
    former_end       timestamptz;
    named            observation;  -- the fact that `replaces` named
    named_begin      timestamptz;  -- its begin by the present clock
    given_end        timestamptz := facts[1].valid_until;
    begins           timestamptz[];
    last_ordinal     bigint;
begin
    if exists (select from unnest(facts) f where f.valid_from >= f.valid_until) then
        raise exception using errcode = 'TR098', message = 'a period ends before it begins';
    end if;
    begins := array(select period_begin(f.valid_from, f.said_at, f.valid_until, moment + f.ordinality * step)
                    from unnest(facts) with ordinality f order by f.ordinality);
    -- Another session can have dropped the caller's model. The facts are then stored without a vector, and a server
    -- computes the vectors of the remaining models later.
    model := (select m.id from embedding_model m where m.id = model);
    if facts[1].replaces is not null then
        replaced := find_fact(space, facts[1].entity_id, facts[1].replaces);
        -- If a client repeats a call, `replaces` can match the fact that the first call stored. Then replace nothing.
        if exists (select from observation o
                   where o.space_id = space and o.id = replaced
                     and o.content_hash = facts[1].content_hash
                     and o.source = coalesce(facts[1].source, o.source) and o.confidence = coalesce(facts[1].confidence, o.confidence)
                     and o.said_at = coalesce(facts[1].said_at, o.said_at)
                     and (facts[1].period is not null or o.valid_from = coalesce(facts[1].valid_from, o.valid_from)
                         and o.valid_until is not distinct from coalesce(facts[1].valid_until, o.valid_until))) then
            replaced := null;
        end if;
        select * into named from observation o where o.space_id = space and o.id = replaced for no key update;
        -- What was true in all repositories stays so, whoever corrects it.
        facts[1].repository := case when named.id is null then facts[1].repository else named.repository end;
        named_begin := present_begin(space, named.entity_id, named.valid_from, moment);
        if facts[1].period is not null and named.id is not null then
            facts[1] := keep_order(facts[1], named_begin, named.created_at);
            begins[1] := period_begin(facts[1].valid_from, facts[1].said_at, facts[1].valid_until, moment + step);
        end if;
        if begins_before(begins[1], named_begin, named.created_at) then
            -- If other facts were put before the named fact, the new fact ends when the next of them begins.
            facts[1].valid_until := least(facts[1].valid_until, named_begin, (
                select min(o.valid_from) from fact o
                where o.space_id = space and o.entity_id = facts[1].entity_id and o.replaced_by = named.id
                  and begins_before(begins[1], o.valid_from, o.created_at)));
        else
            named := null;
        end if;
    end if;
    duplicates := find_duplicates(space, facts, replaced);
    if named.id is not null then
        -- Raise no error if an equal call stored the fact before: its client repeats it, because the answer was lost.
        if not is_valid(named.valid_from, named.valid_until, named.closed_at, present => moment)
           and not exists (select from observation o where o.space_id = space and o.id = duplicates[1] and o.replaced_by = named.id) then
            raise exception using errcode = 'TR003', message = 'the fact is no longer valid';
        end if;
        replaced := null;
    end if;
    -- Search for close facts before storing the new facts. Afterwards each fact would be closest to itself.
    closest_by_place := (select jsonb_object_agg(c.place, to_jsonb(c)) from closest_facts(space, facts, duplicates, replaced, model) c);
    -- Number the facts here. The trigger would read the last number again for each fact.
    last_ordinal := coalesce((select max(o.ordinal) from observation o where o.space_id = space), 0);
    insert into observation (space_id, id, entity_id, entity_type, content, content_hash, source, confidence,
                             valid_from, valid_until, closed_at, replaced_by, author_id, client, tool, request, created_at, said_at, fts,
                             evidence, evidence_start, claim, period, repository, anchors, ordinal)
    select space, f.id, f.entity_id, f.entity_type, f.content, f.content_hash,
           coalesce(f.source, 'conversation'), coalesce(f.confidence, 1),
           begins[f.ordinality], f.valid_until, past_end(f.valid_until), named.id, origin.author_id, origin.client, origin.tool, origin.request,
           moment + f.ordinality * step, coalesce(f.said_at, moment + f.ordinality * step),
           search_document(space, (select space_language(space)), document_names(space, f.entity_id), f.content, f.said_at),
           f.evidence, f.evidence_start, f.claim, f.period, f.repository, f.anchors, last_ordinal + row_number() over (order by f.ordinality)
    from unnest(facts) with ordinality f
    where duplicates[f.ordinality] is null
    order by f.ordinality;
    perform store_embeddings(space, array_agg(f.id), model, array_agg(f.vector))
    from unnest(facts) with ordinality f where duplicates[f.ordinality] is null having count(*) > 0;
    for repeat in
        select f.* from unnest(facts) with ordinality f
        where duplicates[f.ordinality] is not null order by f.ordinality
    loop
        repeat.vector := null;
        -- Without what names the fact, what only its first statement says, and an end that only the text names.
        details[repeat.ordinality] := coalesce(update_fact(space, duplicates[repeat.ordinality], to_jsonb(repeat)
            - '{id,entity_id,entity_name,entity_type,content,content_hash,replaces,vector,alias,valid_from,evidence,evidence_start,claim,period,repository,ordinality}'::text[]
            - case when repeat.period is null then '' else 'valid_until' end
            || jsonb_build_object('origin', find_origin(null, origin.tool, origin.client, repeat.source)), moment), '{}');
        updates[repeat.ordinality] := details[repeat.ordinality] #- '{before,confirmed_at}' -> 'before'
            <> details[repeat.ordinality] #- '{after,confirmed_at}' -> 'after';
    end loop;
    if named.id is not null then
        update observation o set replaced_by = named.id
        where o.space_id = space and o.id = duplicates[1] and o.replaced_by is null and named_begin >= o.valid_until;
        details[1] := details[1] || jsonb_strip_nulls(jsonb_build_object('placed_before', named.id, 'until', given_end));
    end if;
    update entity e set updated_at = moment + last * step
    from (select f.entity_id, max(f.ordinality) as last
          from unnest(facts) with ordinality f
          where duplicates[f.ordinality] is null or updates[f.ordinality]
          group by f.entity_id) changed_entity
    where e.space_id = space and e.id = changed_entity.entity_id;
    if replaced is not null then
        select r.changed, r.valid_until into changed, former_end
        from replace_fact(
            space, replaced, coalesce(duplicates[1], facts[1].id), begins[1], moment + step) r;
    end if;
    perform record_event(
        case when changed then 'replaced' when updates[f.ordinality] then 'updated'
             when duplicates[f.ordinality] is not null then 'repeated' else 'remembered' end,
        f.entity_id, coalesce(duplicates[f.ordinality], f.id), null, origin,
        details[f.ordinality] || case
            when changed then jsonb_build_object('replaced', replaced, 'until', former_end, 'new', duplicates[1] is null)
            -- The same correction has already replaced the old fact, perhaps in a call of another author. Record the
            -- replacement for this author too. If the other author's call is undone, the old fact then stays replaced.
            when replaced is not null then jsonb_build_object('replaced', replaced)
            else '{}' end
        || case when f.alias is null then '{}' else jsonb_build_object('as', f.alias) end)
    from unnest(facts) with ordinality f
    -- An author who states a fact again within a day adds nothing to the trail.
    where duplicates[f.ordinality] is null or details[f.ordinality] <> '{}' or replaced is not null or f.alias is not null
        or not exists (
            select from event e
            where e.space_id = space and e.observation_id = duplicates[f.ordinality] and e.actor_id = origin.author_id
              and states_fact(e.action, e.observation_id, e.detail) and e.at > moment - interval '1 day');
    return query
    select coalesce(duplicates[f.ordinality], f.id), duplicates[f.ordinality] is not null,
        updates[f.ordinality],
        closest_by_place -> f.ordinality::text -> 'closest', (closest_by_place -> f.ordinality::text ->> 'distance')::float8,
        past_end(f.valid_until) is not null, case when f.ordinality = 1 then named.id end,
        case when duplicates[f.ordinality] is null then f.period end
    from unnest(facts) with ordinality f order by f.ordinality;
end
$$;

comment on function textrawl.store_facts is
    'Store facts of entities that claim_entity() has locked. If a valid fact has the same text, update only its '
    'source, confidence, end and said_at, and confirm it. A fact with "replaces" must be the only fact of the call. If '
    'it begins before the fact to replace, it ends when that fact begins. Errors: TR001 or '
    'TR002 ("replaces" matches no fact, or several facts), TR003 (the fact to replace is no longer valid), TR098 (a '
    'period ends before it begins).';
