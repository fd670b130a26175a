create function textrawl.read_facts(facts jsonb, entities uuid[], embeddings halfvec[], space integer) returns textrawl.new_fact[]
language plpgsql volatile
set search_path from current
as $$
begin
    return (
        select array_agg(
            row(gen_random_uuid(), e.id, e.name, e.entity_type,
                input.fact ->> 'observation', fact_hash(input.fact ->> 'observation'),
                input.fact ->> 'source', (input.fact ->> 'confidence')::real,
                (input.fact ->> 'valid_until')::timestamptz, (input.fact ->> 'said_at')::timestamptz,
                input.fact ->> 'replaces', embeddings[input.place],
                case when e.name_key <> name_key(input.fact ->> 'entity')
                     then find_alias(read_facts.space, input.fact ->> 'entity') end,
                (input.fact ->> 'valid_from')::timestamptz,
                input.fact ->> 'evidence', (input.fact ->> 'evidence_start')::integer,
                make_claim(input.fact ->> 'observation', spoken.language))::new_fact
            order by input.place)
        from jsonb_array_elements(facts) with ordinality input (fact, place)
        -- `limit 1` makes the planner look up each id in the index. Without `limit 1`, the planner would expect a
        -- hundred rows and read all entities.
        cross join lateral (
            select * from entity e where e.space_id = read_facts.space and e.id = entities[input.place] limit 1) e
        cross join (select space_language(read_facts.space)::text as language) spoken);
end
$$;

comment on function textrawl.read_facts is
    'Convert facts [{entity, observation, source, confidence, valid_from, valid_until, said_at, replaces, evidence, evidence_start}] and their '
    'vectors to the type that store_facts() takes, in the same order. claim_entity() returned "entities". '
    'The name in a fact only shows which alias the caller used.';
