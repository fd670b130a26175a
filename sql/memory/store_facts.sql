create function textrawl.store_facts(facts textrawl.new_fact[], model integer, origin textrawl.origin)
returns table (observation_id uuid, duplicate boolean, updated boolean, closest jsonb, distance double precision)
language plpgsql volatile
set search_path from current
-- A plan for any number of rows: with one for each number, each call would be planned anew.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    space    integer := origin.space_id;
    -- Before anything is looked at: what is stored is never younger than the clock.
    moment   timestamptz := clock_timestamp();
    tick     interval := '1 microsecond';
    known    uuid[];
    details  jsonb[] := array_fill('{}'::jsonb, array[cardinality(facts)]);
    told     record;
    near     jsonb;
    replaced uuid;
    changed  boolean := false;
    until    timestamptz;
    place    bigint;
begin
    -- Dropped since the caller asked which one is active: other models' vectors follow by themselves.
    model := (select m.id from embedding_model m where m.id = model);
    if facts[1].replaces is not null then
        replaced := find_fact(space, facts[1].entity_id, facts[1].replaces);
        -- The same call again finds its own fact by its text: that is a repetition, no correction.
        if exists (select from observation o
                   where o.space_id = space and o.id = replaced
                     and o.content_hash = facts[1].content_hash
                     and o.source = coalesce(facts[1].source, o.source) and o.confidence = coalesce(facts[1].confidence, o.confidence)
                     and o.valid_until is not distinct from coalesce(facts[1].valid_until, o.valid_until)) then
            replaced := null;
        end if;
    end if;
    known := find_duplicates(space, facts, replaced);
    -- Before they are stored, when each would be closest to itself.
    near := (select jsonb_object_agg(c.place, to_jsonb(c)) from closest_facts(space, facts, known, replaced, model) c);
    -- The number of the trigger, read once for all.
    place := coalesce((select max(o.ordinal) from observation o where o.space_id = space), 0);
    insert into observation (space_id, id, entity_id, entity_type, content, content_hash, source, confidence,
                             valid_from, valid_until, author_id, client, tool, request, created_at, fts, ordinal)
    select space, f.id, f.entity_id, f.entity_type, f.content, f.content_hash,
           coalesce(f.source, 'conversation'), coalesce(f.confidence, 1),
           moment + f.ordinality * tick, f.valid_until, origin.author_id, origin.client, origin.tool, origin.request,
           moment + f.ordinality * tick, search_document(space, f.entity_name, f.content), place + row_number() over (order by f.ordinality)
    from unnest(facts) with ordinality f
    where known[f.ordinality] is null
    order by f.ordinality;
    perform store_embeddings(space, array_agg(f.id), model, array_agg(f.vector))
    from unnest(facts) with ordinality f where known[f.ordinality] is null having count(*) > 0;
    for told in
        select f.* from unnest(facts) with ordinality f
        where known[f.ordinality] is not null and num_nonnulls(f.source, f.confidence, f.valid_until) > 0
        order by f.ordinality
    loop
        details[told.ordinality] := update_fact(space, known[told.ordinality], told.source, told.confidence, told.valid_until);
    end loop;
    update entity e set updated_at = moment + last * tick
    from (select f.entity_id, max(f.ordinality) as last
          from unnest(facts) with ordinality f
          where known[f.ordinality] is null or details[f.ordinality] -> 'before' <> details[f.ordinality] -> 'after' group by f.entity_id) news
    where e.space_id = space and e.id = news.entity_id;
    if replaced is not null then
        select r.changed, r.valid_until into changed, until
        from replace_fact(space, replaced, coalesce(known[1], facts[1].id), moment + tick) r;
    end if;
    perform record_event(
        case when changed then 'replaced' when details[f.ordinality] -> 'before' <> details[f.ordinality] -> 'after' then 'updated'
             when known[f.ordinality] is not null then 'repeated' else 'remembered' end,
        f.entity_id, coalesce(known[f.ordinality], f.id), null, origin,
        details[f.ordinality] || case
            when changed then jsonb_build_object('replaced', replaced, 'until', until, 'new', known[1] is null)
            -- Said by another as well: an undo of the first must not bring back what both corrected.
            when replaced is not null then jsonb_build_object('replaced', replaced)
            else '{}' end)
    from unnest(facts) with ordinality f;
    return query
    select coalesce(known[f.ordinality], f.id), known[f.ordinality] is not null,
        coalesce(details[f.ordinality] -> 'before' <> details[f.ordinality] -> 'after', false),
        near -> f.ordinality::text -> 'closest', (near -> f.ordinality::text ->> 'distance')::float8
    from unnest(facts) with ordinality f order by f.ordinality;
end
$$;

comment on function textrawl.store_facts is
    'Stores facts of entities that are claimed, each unless a valid one has the same text, which takes over what else is told: one that replaces another by itself, others together; what remember_fact and build_knowledge do once they know where they write. Errors: TR001, TR002 (replaces), TR003 (was replaced already).';
