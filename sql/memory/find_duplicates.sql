create function textrawl.find_duplicates(space integer, facts textrawl.new_fact[], replaced uuid) returns uuid[]
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
begin
    return (select array_agg(coalesce(stored.id, earlier.id) order by f.ordinality)
    from (
        -- Texts that name one period are one fact, whenever they were stored.
        select *, coalesce(case when period is null then valid_from end, said_at) as given,
            period is null and past_end(valid_until) is not null as is_former
        from unnest(facts) with ordinality) f
    left join lateral (
        select o.id from local_facts() o
        where o.space_id = space and o.entity_id = f.entity_id and o.content_hash = f.content_hash
          and o.id is distinct from replaced
          -- A part of a long observation is not a separate fact.
          and o.whole is null
          and same_occasion(f.given, case when f.valid_from is null or f.period is not null then o.said_at else o.valid_from end, o.created_at)
          -- A new fact that has ended is a duplicate of a valid fact, which gets its end, and of a fact with the same
          -- end. If the clock went back, a stored fact can seem to begin after this end, but it began earlier.
          and (is_valid(o.valid_from, o.valid_until, o.closed_at, present => clock_timestamp())
                   and (not f.is_former or o.valid_from < f.valid_until or f.given is null and o.created_at > clock_timestamp())
               or o.period = f.period and o.replaced_by is null and o.valid_until < o.created_at
               or f.is_former and o.valid_until = f.valid_until and (o.replaced_by is null or o.replaced_by = replaced))
        -- The graph tools store a text again if its spelling differs. If there are several matches, prefer the match
        -- with the identical spelling, and then the fact that began last.
        order by o.content <> f.content, o.valid_from desc, o.ordinal limit 1) stored on true
    left join lateral (
        select e.id from unnest(facts) with ordinality e
        where e.ordinality < f.ordinality and e.entity_id = f.entity_id and e.content_hash = f.content_hash
          and (f.given is null or same_occasion(
              f.given, coalesce(case when f.valid_from is null or f.period is not null then e.said_at end, e.valid_from, e.said_at, now()), now()))
          and case when f.period is not null then e.period = f.period when f.is_former then e.valid_until = f.valid_until else past_end(e.valid_until) is null end
        order by e.ordinality limit 1) earlier on true);
end
$$;

comment on function textrawl.find_duplicates is
    'For each new fact, the id of a valid fact of the same entity with the same fact_key() and, if the new fact has a '
    'begin or said_at, of the same day. That fact is stored already or comes earlier in the list. Null if there is no '
    'such fact.';
