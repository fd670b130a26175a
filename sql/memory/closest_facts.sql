create function textrawl.closest_facts(space integer, facts textrawl.new_fact[], known uuid[], replaced uuid, model integer)
returns table (place bigint, closest jsonb, distance double precision)
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
    disagreeing jsonb := (
        select jsonb_object_agg(d.place, jsonb_build_object('id', d.id, 'content', d.content, 'why', d.why,
            'on', to_char(d.said_at at time zone 'UTC', 'YYYY-MM-DD')))
        from disagreeing_facts(space, facts, known, replaced) d);
    spelled     jsonb := (
        select jsonb_object_agg(one.place, jsonb_build_object('id', one.id, 'content', one.content))
        from (
            select distinct on (place) place, id, content
            from (
                select f.ordinality as place, o.id, o.content, o.ordinal, f.content as given
                from unnest(facts) with ordinality f
                join fact o on o.space_id = closest_facts.space and o.entity_id = f.entity_id
                where known[f.ordinality] is null and o.id is distinct from replaced
                  and is_valid(o.valid_from, o.valid_until, o.closed_at, present => clock_timestamp())
                union all
                select f.ordinality, e.id, e.content, null, f.content
                from unnest(facts) with ordinality f
                join unnest(facts) with ordinality e on e.entity_id = f.entity_id and e.ordinality < f.ordinality
                where known[f.ordinality] is null and known[e.ordinality] is null
                  and is_valid(null, e.valid_until, null, present => clock_timestamp())) candidate
            -- Compare the lengths first, because an entity can have thousands of facts.
            where abs(char_length(content) - char_length(given)) <= 8 and spelling_key(content) = spelling_key(given)
            order by place, ordinal desc nulls first) one);
begin
    return query select key::bigint, value, -1::double precision from jsonb_each(disagreeing);
    return query select key::bigint, value, 0::double precision from jsonb_each(spelled)
        where not coalesce(disagreeing ? key, false);
    if model is null then
        return;
    end if;
    -- Look up each vector by its key (lateral). The vector index can miss the closest vector, and a scan of all vectors
    -- is slow.
    return query execute format($query$
        select distinct on (place) place, jsonb_build_object('id', id, 'content', content), distance
        from (
            select f.ordinality as place, o.id, o.content, nearest.distance, o.ordinal
            from unnest($2) with ordinality f
            join fact o on o.space_id = $1 and o.entity_id = f.entity_id
            cross join lateral (
                select v.vector <=> f.vector as distance from %I v
                where v.space_id = o.space_id and v.observation_id = o.id offset 0) nearest
            where $3[f.ordinality] is null and o.id is distinct from $4
              and is_valid(o.valid_from, o.valid_until, o.closed_at, present => clock_timestamp())
            union all
            select f.ordinality, e.id, e.content, e.vector <=> f.vector, null
            from unnest($2) with ordinality f
            join unnest($2) with ordinality e on e.entity_id = f.entity_id and e.ordinality < f.ordinality
            where $3[f.ordinality] is null and $3[e.ordinality] is null
              and is_valid(null, e.valid_until, null, present => clock_timestamp())) candidate
        where distance <= 0.05 and not $5 ? place::text
        order by place, distance, ordinal nulls last$query$, 'embedding_' || model)
    using space, facts, known, replaced, coalesce(disagreeing, '{}') || coalesce(spelled, '{}');
end
$$;

comment on function textrawl.closest_facts is
    'For each new fact that is not a duplicate, a valid fact of the same entity: one that disagrees with it {id, content, '
    'why, on}, see disagreeing_facts(); otherwise one that differs only in its spelling; otherwise the closest one {id, '
    'content}, if the cosine is 0.95 or more. A person or a model has to decide whether the new fact replaces the stored '
    'fact.';
