create function textrawl.read_facts(facts jsonb, embeddings halfvec[], space integer) returns textrawl.new_fact[]
language plpgsql volatile
set search_path from current
as $$
begin
    return (
        select array_agg(
            row(gen_random_uuid(), e.id, e.name, e.entity_type,
                given.fact ->> 'observation', md5(fact_key(given.fact ->> 'observation'))::uuid,
                given.fact ->> 'source', (given.fact ->> 'confidence')::real,
                (given.fact ->> 'valid_until')::timestamptz, given.fact ->> 'replaces', embeddings[given.place])::new_fact
            order by given.place)
        from jsonb_array_elements(facts) with ordinality given (fact, place)
        -- By the index for each (limit 1): the planner, who thinks of a hundred, would read all entities.
        cross join lateral (
            select * from entity e
            where e.space_id = read_facts.space and e.name_key = name_key(given.fact ->> 'entity') limit 1) e);
end
$$;

comment on function textrawl.read_facts is
    'Facts [{entity, observation, source, confidence, valid_until, replaces}] of entities that are claimed, with a vector for each, as store_facts() takes them; in the same order.';
