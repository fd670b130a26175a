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
begin
    return query select key::bigint, value, -1::double precision from jsonb_each(disagreeing);
    -- Look up each vector by its key (lateral). The vector index can miss the closest vector, and a scan of all vectors
    -- is slow.
    return query execute format($query$
        with given as materialized (
            select ordinality as place, id, entity_id, content, valid_until, case when $6 then vector end as vector, char_length(content) as length,
                outer_letters(content) as letters, spelling_key(content) as key
            from unnest($2) with ordinality where $3[ordinality] is null
        )
        select distinct on (place) place, jsonb_build_object('id', id, 'content', content), case when spelled then 0 else distance end as gap
        from (
            select f.place, f.length, f.letters, f.key, o.id, o.content, o.ordinal, nearest.distance
            from given f
            join fact o on o.space_id = $1 and o.entity_id = f.entity_id
            left join lateral (
                select v.vector <=> f.vector as distance from %s v
                where v.space_id = o.space_id and v.observation_id = o.id offset 0) nearest on true
            where not $5 ? f.place::text and o.id is distinct from $4
              and is_valid(o.valid_from, o.valid_until, o.closed_at, present => clock_timestamp())
            union all
            select f.place, f.length, f.letters, f.key, e.id, e.content, null, e.vector <=> f.vector
            from given f join given e on e.entity_id = f.entity_id and e.place < f.place
            where not $5 ? f.place::text and is_valid(null, e.valid_until, null, present => clock_timestamp())) candidate
        -- First compare lengths and outer letters, which is quick: an entity can have thousands of facts.
        cross join lateral (
            select coalesce(case when abs(char_length(content) - length) <= 8 and coalesce(outer_letters(content) = letters, true)
                                 then spelling_key(content) = key end, false) as spelled offset 0) compared
        where spelled or distance <= 0.05
        order by place, spelled desc, gap, coalesce(ordinal, 'infinity'::float8) * case when spelled then -1 else 1 end$query$,
        -- Without a model, facts can differ only in their spelling.
        coalesce('embedding_' || model, '(select null::integer as space_id, null::uuid as observation_id, null::halfvec as vector where false)'))
    using space, facts, known, replaced, coalesce(disagreeing, '{}'), model is not null;
end
$$;

comment on function textrawl.closest_facts is
    'For each new fact that is not a duplicate, a valid fact of the same entity: one that disagrees with it {id, content, '
    'why, on}, see disagreeing_facts(); otherwise one that differs only in its spelling; otherwise the closest one {id, '
    'content}, if the cosine is 0.95 or more. A person or a model has to decide whether the new fact replaces the stored '
    'fact.';
