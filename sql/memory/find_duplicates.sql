create function textrawl.find_duplicates(space integer, facts textrawl.new_fact[], replaced uuid) returns uuid[]
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
begin
    return (select array_agg(coalesce(stored.id, earlier.id) order by f.ordinality)
    from unnest(facts) with ordinality f
    left join lateral (
        select o.id from fact o
        where o.space_id = space and o.entity_id = f.entity_id and o.content_hash = f.content_hash
          and o.id is distinct from replaced
          -- A part of a long observation is not a separate fact.
          and o.whole is null
          -- A new fact that has already ended differs from a valid fact with the same text. It is a duplicate only of a
          -- fact with the same end.
          and case when is_valid(null, f.valid_until, null, present => clock_timestamp())
                   then is_valid(o.valid_from, o.valid_until, o.closed_at, present => clock_timestamp())
                   else o.valid_until = f.valid_until and o.replaced_by is null end
        -- The graph tools store a text again if its spelling differs. If there are several matches, prefer the match
        -- with the identical spelling.
        order by o.content <> f.content, o.ordinal limit 1) stored on true
    left join lateral (
        select e.id from unnest(facts) with ordinality e
        where e.ordinality < f.ordinality and e.entity_id = f.entity_id and e.content_hash = f.content_hash
          and case when is_valid(null, f.valid_until, null, present => clock_timestamp())
                   then is_valid(null, e.valid_until, null, present => clock_timestamp())
                   else e.valid_until = f.valid_until end
        order by e.ordinality limit 1) earlier on true);
end
$$;

comment on function textrawl.find_duplicates is
    'For each new fact, the id of a valid fact of the same entity with the same fact_key(). That fact is stored '
    'already or comes earlier in the list. Null if there is no such fact.';
