create function textrawl.store_facts(facts textrawl.new_fact[], model integer, origin textrawl.origin)
returns table (observation_id uuid, duplicate boolean, updated boolean, closest jsonb, distance double precision)
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
    repeat           record;
    closest_by_place jsonb;
    replaced         uuid;
    changed          boolean := false;
    former_end       timestamptz;
    place            bigint;
begin
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
                     and o.valid_until is not distinct from coalesce(facts[1].valid_until, o.valid_until)) then
            replaced := null;
        end if;
    end if;
    duplicates := find_duplicates(space, facts, replaced);
    -- Search for close facts before storing the new facts. Afterwards each fact would be closest to itself.
    closest_by_place := (select jsonb_object_agg(c.place, to_jsonb(c)) from closest_facts(space, facts, duplicates, replaced, model) c);
    -- Number the facts here. The trigger would read the last number again for each fact.
    place := coalesce((select max(o.ordinal) from observation o where o.space_id = space), 0);
    insert into observation (space_id, id, entity_id, entity_type, content, content_hash, source, confidence,
                             valid_from, valid_until, closed_at, author_id, client, tool, request, created_at, said_at, fts, ordinal)
    select space, f.id, f.entity_id, f.entity_type, f.content, f.content_hash,
           coalesce(f.source, 'conversation'), coalesce(f.confidence, 1),
           moment + f.ordinality * step, f.valid_until, past_end(f.valid_until), origin.author_id, origin.client, origin.tool, origin.request,
           moment + f.ordinality * step, coalesce(f.said_at, moment + f.ordinality * step),
           search_document(space, (select space_language(space)), document_names(space, f.entity_id), f.content, f.said_at),
           place + row_number() over (order by f.ordinality)
    from unnest(facts) with ordinality f
    where duplicates[f.ordinality] is null
    order by f.ordinality;
    perform store_embeddings(space, array_agg(f.id), model, array_agg(f.vector))
    from unnest(facts) with ordinality f where duplicates[f.ordinality] is null having count(*) > 0;
    for repeat in
        select f.* from unnest(facts) with ordinality f
        where duplicates[f.ordinality] is not null and num_nonnulls(f.source, f.confidence, f.valid_until, f.said_at) > 0
        order by f.ordinality
    loop
        details[repeat.ordinality] := update_fact(
            space, duplicates[repeat.ordinality], repeat.source, repeat.confidence, repeat.valid_until, repeat.said_at);
    end loop;
    update entity e set updated_at = moment + last * step
    from (select f.entity_id, max(f.ordinality) as last
          from unnest(facts) with ordinality f
          where duplicates[f.ordinality] is null or details[f.ordinality] -> 'before' <> details[f.ordinality] -> 'after'
          group by f.entity_id) changed_entity
    where e.space_id = space and e.id = changed_entity.entity_id;
    if replaced is not null then
        select r.changed, r.valid_until into changed, former_end
        from replace_fact(space, replaced, coalesce(duplicates[1], facts[1].id), moment + step) r;
    end if;
    perform record_event(
        case when changed then 'replaced' when details[f.ordinality] -> 'before' <> details[f.ordinality] -> 'after' then 'updated'
             when duplicates[f.ordinality] is not null then 'repeated' else 'remembered' end,
        f.entity_id, coalesce(duplicates[f.ordinality], f.id), null, origin,
        details[f.ordinality] || case
            when changed then jsonb_build_object('replaced', replaced, 'until', former_end, 'new', duplicates[1] is null)
            -- The same correction has already replaced the old fact, perhaps in a call of another author. Record the
            -- replacement for this author too. If the other author's call is undone, the old fact then stays replaced.
            when replaced is not null then jsonb_build_object('replaced', replaced)
            else '{}' end
        || case when f.alias is null then '{}' else jsonb_build_object('as', f.alias) end)
    from unnest(facts) with ordinality f;
    return query
    select coalesce(duplicates[f.ordinality], f.id), duplicates[f.ordinality] is not null,
        coalesce(details[f.ordinality] -> 'before' <> details[f.ordinality] -> 'after', false),
        closest_by_place -> f.ordinality::text -> 'closest', (closest_by_place -> f.ordinality::text ->> 'distance')::float8
    from unnest(facts) with ordinality f order by f.ordinality;
end
$$;

comment on function textrawl.store_facts is
    'Store facts of entities that claim_entity() has locked. If a valid fact has the same text, update only its '
    'source, confidence, end and said_at. A fact with "replaces" must be the only fact of the call. Errors: TR001 or '
    'TR002 ("replaces" matches no fact, or several facts), TR003 (the fact to replace is no longer valid).';
