create function textrawl.record_use(
    numbers bigint[], moment timestamptz default clock_timestamp(),
    space integer default null, credential bytea default null
) returns bigint
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    place integer := graph_space(credential, space);
    used  uuid[];
begin
    -- In the order of names, like every writer: nobody waits in a circle. An entity that is being forgotten is skipped;
    -- Postgres waits for it all the same where the entity was updated a moment before.
    used := array(
        select e.id from entity e
        where e.space_id = place and e.id in (
            select n.id from unnest(numbers[1:50]) number cross join lateral number_range(number) range
            join entity n on n.space_id = place and n.id between range.first and range.last)
        order by e.name_key for key share skip locked);
    insert into entity_use as u (space_id, entity_id, day, count, last_at)
    select place, id, (moment at time zone 'UTC')::date, 1, moment from unnest(used) id order by id
    on conflict (space_id, entity_id, day) do update
    set count = u.count + 1, last_at = greatest(u.last_at, excluded.last_at);
    insert into joint_use as j (space_id, one, other, count, last_at)
    select place, one, other, 1, moment from unnest(used[1:20]) one, unnest(used[1:20]) other
    where one < other order by one, other
    on conflict (space_id, one, other) do update
    set count = j.count + 1, last_at = greatest(j.last_at, excluded.last_at);
    return cardinality(used);
end
$$;

comment on function textrawl.record_use is
    'Notes that an answer held the entities of these numbers (the first 50; pairs of 20), by which search_semantic ranks. Errors: TR010, TR011 (access).';
