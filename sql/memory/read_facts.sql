create function textrawl.read_facts(facts jsonb, entities uuid[], embeddings halfvec[], space integer, reading boolean default true)
returns textrawl.new_fact[]
language plpgsql volatile
set search_path from current
as $$
begin
    return (
        select array_agg(
            row(gen_random_uuid(), e.id, e.name, e.entity_type,
                input.fact ->> 'observation', fact_hash(input.fact ->> 'observation'),
                input.fact ->> 'source', (input.fact ->> 'confidence')::real,
                coalesce(given.valid_until, named.valid_until), (input.fact ->> 'said_at')::timestamptz,
                input.fact ->> 'replaces', embeddings[input.place],
                case when e.name_key <> name_key(input.fact ->> 'entity')
                     then find_alias(read_facts.space, input.fact ->> 'entity') end,
                coalesce(given.valid_from, named.valid_from),
                input.fact ->> 'evidence', (input.fact ->> 'evidence_start')::integer,
                make_claim(input.fact ->> 'observation', spoken.language),
                nullif(concat(case when given.valid_from is null then named.starts end, '/',
                    case when given.valid_until is null and named.valid_until is not null then named.ends end), '/'))::new_fact
            order by input.place)
        from jsonb_array_elements(facts) with ordinality input (fact, place)
        -- `limit 1` makes the planner look up each id in the index. Without `limit 1`, the planner would expect a
        -- hundred rows and read all entities.
        cross join lateral (
            select * from entity e where e.space_id = read_facts.space and e.id = entities[input.place] limit 1) e
        cross join (select space_language(read_facts.space)::text as language) spoken
        cross join lateral (
            select (input.fact ->> 'valid_from')::timestamptz as valid_from, (input.fact ->> 'valid_until')::timestamptz as valid_until) given
        -- What the caller gave counts more than the text.
        left join lateral read_period(
                input.fact ->> 'observation', coalesce((input.fact ->> 'said_at')::timestamptz, now()), spoken.language) named
            on reading and num_nulls(given.valid_from, given.valid_until) > 0
                and coalesce(given.valid_from, named.valid_from, '-infinity') < coalesce(given.valid_until, named.valid_until, 'infinity'));
end
$$;

comment on function textrawl.read_facts is
    'Convert facts [{entity, observation, source, confidence, valid_from, valid_until, said_at, replaces, evidence, evidence_start}] and their '
    'vectors to the type that store_facts() takes, in the same order. With reading, a text can name the period. claim_entity() returned "entities". '
    'The name in a fact only shows which alias the caller used.';
