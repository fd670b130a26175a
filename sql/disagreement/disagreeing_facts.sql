create function textrawl.disagreeing_facts(space integer, facts textrawl.new_fact[], known uuid[], replaced uuid)
returns table (place bigint, id uuid, content text, why text, said_at timestamptz)
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
begin
    return query
    with fresh as materialized (
        select f.ordinality as place, f.id, f.entity_id, f.content, f.claim, coalesce(f.said_at, clock_timestamp()) as said_at
        from unnest(facts) with ordinality f
        where known[f.ordinality] is null and f.claim is not null and is_valid(null, f.valid_until, null, present => clock_timestamp())
    ), newest as materialized (
        select o.* from (select distinct entity_id from fresh) e
        cross join lateral (
            select f.id, f.entity_id, f.content, f.claim, f.said_at, f.ordinal, null::bigint as before from local_facts() f
            where f.space_id = disagreeing_facts.space and f.entity_id = e.entity_id and f.id is distinct from replaced and f.claim is not null
              and is_valid(f.valid_from, f.valid_until, f.closed_at, present => clock_timestamp())
            order by f.ordinal desc limit 300) o
    )
    select distinct on (n.place) n.place, o.id, o.content, compared.why, o.said_at
    from fresh n
    cross join lateral (
        select * from newest o where o.entity_id = n.entity_id
        union all
        select e.id, e.entity_id, e.content, e.claim, e.said_at, null, e.place from fresh e where e.entity_id = n.entity_id and e.place < n.place) o
    cross join lateral (
        -- Facts of one topic have other values, and a negation is the opposite of any fact with its predicate.
        select coalesce(case when n.claim ->> 'topic' = o.claim ->> 'topic'
                or n.claim ->> 'predicate' = o.claim ->> 'predicate' and n.claim ? 'negative' <> (o.claim ? 'negative')
            then case when n.claim ->> 'language' = o.claim ->> 'language' then compare_claims(n.claim, o.claim)
                else disagreement(n.content, o.content, space_language(space)::text) end end,
            case when n.claim ->> 'sole' = o.claim ->> 'sole' then 'other value' end,
            case when n.claim ? 'ends' and ended_by(n.claim, o.claim) is not null then 'over' end) as why offset 0) compared
    where compared.why is not null
    order by n.place, why = 'over', o.before desc nulls last, o.ordinal desc;
end
$$;

comment on function textrawl.disagreeing_facts is
    'For each new fact that is not a duplicate, the newest valid fact of the same entity that disagrees with it, if there '
    'is one. why is other value or opposite, as in disagreement(), or over: see ended_by(). The newest 300 facts of the entity are compared.';
