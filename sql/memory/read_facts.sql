create function textrawl.read_facts(facts jsonb, embeddings halfvec[], space integer) returns textrawl.new_fact[]
language sql volatile
set search_path from current
begin atomic
    select array_agg(
        row(gen_random_uuid(), e.id, e.name, e.entity_type,
            given.fact ->> 'observation', md5(textrawl.fact_key(given.fact ->> 'observation'))::uuid,
            coalesce(given.fact ->> 'source', 'conversation'), coalesce((given.fact ->> 'confidence')::real, 1),
            (given.fact ->> 'valid_until')::timestamptz, given.fact ->> 'replaces', embeddings[given.place])::textrawl.new_fact
        order by given.place)
    from jsonb_array_elements(facts) with ordinality given (fact, place)
    join textrawl.entity e on e.space_id = read_facts.space and e.name_key = textrawl.name_key(given.fact ->> 'entity');
end;

comment on function textrawl.read_facts is
    'Facts [{entity, observation, source, confidence, valid_until, replaces}] of entities that are claimed, with a vector for each, as store_facts() takes them; in the same order.';
