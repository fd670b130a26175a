create function textrawl.read_facts(facts jsonb, entities uuid[], embeddings halfvec[], space integer, reading boolean default true)
returns textrawl.new_fact[]
language plpgsql volatile
set search_path from current
as $$
declare
    given record;
    fact  new_fact;
    made  new_fact[] := '{}';
begin
    for given in
        select embeddings[input.place] as vector, input.fact || jsonb_build_object(
            'id', gen_random_uuid(), 'entity_id', e.id, 'entity_name', e.name, 'entity_type', e.entity_type, 'vector', null,
            'content', input.fact -> 'observation', 'content_hash', fact_hash(input.fact ->> 'observation'),
            'alias', case when e.name_key <> name_key(input.fact ->> 'entity')
                          then find_alias(read_facts.space, input.fact ->> 'entity') end,
            'repository', case when input.fact ? 'repository' then fact_repository(e.entity_type, input.fact ->> 'repository')
                               else fact_repository(e.entity_type) end,
            'claim', make_claim(input.fact ->> 'observation', spoken.language),
            'valid_from', coalesce(own.valid_from, named.valid_from), 'valid_until', coalesce(own.valid_until, named.valid_until),
            'period', nullif(concat(case when own.valid_from is null then named.starts end, '/',
                case when own.valid_until is null and named.valid_until is not null then named.ends end), '/')) as values
        from jsonb_array_elements(facts) with ordinality input (fact, place)
        -- `limit 1` makes the planner look up each id in the index. Without `limit 1`, the planner would expect a
        -- hundred rows and read all entities.
        cross join lateral (
            select * from entity e where e.space_id = read_facts.space and e.id = entities[input.place] limit 1) e
        cross join (select space_language(read_facts.space)::text as language) spoken
        cross join lateral (
            select (input.fact ->> 'valid_from')::timestamptz as valid_from, (input.fact ->> 'valid_until')::timestamptz as valid_until) own
        -- What the caller gave counts more than the text.
        left join lateral read_period(
                input.fact ->> 'observation', coalesce((input.fact ->> 'said_at')::timestamptz, now()), spoken.language) named
            on reading and num_nulls(own.valid_from, own.valid_until) > 0
                and coalesce(own.valid_from, named.valid_from, '-infinity') < coalesce(own.valid_until, named.valid_until, 'infinity')
        order by input.place
    loop
        fact := jsonb_populate_record(null::new_fact, given.values);
        fact.vector := given.vector;
        made := made || fact;
    end loop;
    return made;
end
$$;

comment on function textrawl.read_facts is
    'Convert facts [{entity, observation, and other attributes of new_fact}] and their '
    'vectors to the type that store_facts() takes, in the same order. With reading, a text can name the period. claim_entity() returned "entities". '
    'The name in a fact only shows which alias the caller used.';
