create function textrawl.closest_facts(space integer, facts textrawl.new_fact[], known uuid[], replaced uuid, model integer)
returns table (place bigint, closest jsonb, distance double precision)
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
    disagreeing jsonb := (
        select coalesce(jsonb_object_agg(d.place, jsonb_build_object('id', d.id, 'content', d.content, 'why', d.why,
            'on', to_char(d.said_at at time zone 'UTC', 'YYYY-MM-DD'))), '{}')
        from disagreeing_facts(space, facts, known, replaced) d);
begin
    return query select key::bigint, value, -1::double precision from jsonb_each(disagreeing);
    -- An entity without facts is new: a model has to decide whether it is another one.
    return query
    select f.first, likely.entity, -1::double precision
    from (select entity_id, min(ordinality) as first from unnest(facts) with ordinality group by entity_id) f
    cross join lateral (
        -- In a condition beside the call, every fact of a known entity would pay for it.
        select case when not exists (select from fact o where o.space_id = closest_facts.space and o.entity_id = f.entity_id)
            then likely_entity(closest_facts.space, f.entity_id) end as entity offset 0) likely
    where likely.entity is not null and not disagreeing ? f.first::text;
    return query
    with given as materialized (
        select f.ordinality as place, f.id, f.entity_id, f.content, f.valid_until, f.vector, char_length(f.content) as length,
            -- After a word that ends or changes something, what is over is said in other words.
            case when f.claim -> 'ends' ? 'by' then 0.8 else 0.05 end as reach, outer_letters(f.content) as letters, spelling_key(f.content) as key
        from unnest(facts) with ordinality f where known[f.ordinality] is null and not disagreeing ? f.ordinality::text
    ), newest as materialized (
        select o.* from (select distinct entity_id from given) e
        cross join lateral (
            select * from local_facts() o
            where o.space_id = closest_facts.space and o.entity_id = e.entity_id and o.id is distinct from replaced
              and is_valid(o.valid_from, o.valid_until, o.closed_at, present => clock_timestamp())
            order by o.ordinal desc limit 1000) o
    )
    select distinct on (place) place, jsonb_build_object('id', id, 'content', content)
            || case when not spelled and distance > 0.05 then jsonb_build_object('why', 'over', 'on', to_char(said_at at time zone 'UTC', 'YYYY-MM-DD')) else '{}' end,
        case when spelled then 0 else distance end as gap
    from (
        select f.place, f.length, f.letters, f.key, f.reach, o.id, o.content, o.said_at, o.ordinal, (
            -- Look up each vector by its key. The vector index can miss the closest one, and a scan of all is slow.
            select v.vector <=> f.vector from embedding v
            where v.model_id = closest_facts.model and v.space_id = o.space_id and v.observation_id = o.id) as distance
        from given f
        join newest o using (entity_id)
        union all
        select f.place, f.length, f.letters, f.key, f.reach, e.id, e.content, coalesce(e.said_at, clock_timestamp()), null, case when model is not null then e.vector <=> f.vector end
        from given f
        join unnest(facts) with ordinality e on e.entity_id = f.entity_id and e.ordinality < f.place
        where known[e.ordinality] is null and is_valid(null, e.valid_until, null, present => clock_timestamp())) candidate
    -- First compare lengths and outer letters, which is quick: an entity can have thousands of facts.
    cross join lateral (
        select coalesce(case when abs(char_length(content) - length) <= 8 and coalesce(outer_letters(content) = letters, true)
                             then spelling_key(content) = key end, false) as spelled offset 0) compared
    where spelled or distance <= reach
    order by place, spelled desc, gap, coalesce(ordinal, 'infinity'::float8) * case when spelled then -1 else 1 end;
end
$$;

comment on function textrawl.closest_facts is
    'For each new fact that is not a duplicate, a valid fact of the same entity: one that disagrees with it {id, content, '
    'why, on}, see disagreeing_facts(); otherwise one that differs only in its spelling; otherwise the closest one {id, '
    'content}, if the cosine is 0.95 or more. After a word that ends something, as in read_ending(), the closest one from '
    '0.2 on may be over {id, content, why, on}. The newest 1,000 facts of the entity are compared. For the first fact of an entity: likely_entity(). A person or a model has to decide whether the new fact replaces it.';
