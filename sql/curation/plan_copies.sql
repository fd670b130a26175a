create function textrawl.plan_copies(giver integer, facts uuid[], target integer, target_entity uuid)
returns table (id uuid, place bigint, copy uuid, duplicate boolean)
language sql volatile
begin atomic
    -- A fact that has ended is a duplicate only of a fact with the same end, as in find_duplicates().
    select o.id, given.place, coalesce(known.id, gen_random_uuid()), known.id is not null
    from unnest(facts) with ordinality given (id, place)
    join textrawl.fact o on o.space_id = giver and o.id = given.id
    left join lateral (
        select k.id from textrawl.fact k
        where k.space_id = target and k.entity_id = target_entity and k.content_hash = o.content_hash
          and (k.whole, k.part, k.repository) is not distinct from (o.whole, o.part, o.repository)
          and case when textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at, present => clock_timestamp())
                   then textrawl.is_valid(k.valid_from, k.valid_until, k.closed_at, present => clock_timestamp())
                   else k.valid_until = o.valid_until end
          and textrawl.is_repetition(k.valid_from, k.created_at, o.valid_from, o.created_at)
        order by k.content <> o.content, k.ordinal limit 1) known on true;
end;

comment on function textrawl.plan_copies is
    'For each fact that is shared, the id of its copy, or the id of the fact in the target that says the same already.';
