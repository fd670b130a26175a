create function textrawl.record_use(
    numbers bigint[], moment timestamptz default clock_timestamp(),
    space integer default null, credential bytea default null
) returns bigint
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    home     integer := graph_space(credential, space);
    used_ids uuid[];
begin
    -- Skip locked rows, because forget_entity() holds the row of the entity and waits for its entity_use rows. Even
    -- with `skip locked`, Postgres waits for a row that was updated a moment before. Therefore lock in the order of
    -- names, like every writer. Then no deadlock can occur.
    used_ids := array(
        select e.id from entity e
        where e.space_id = home and e.id in (
            select n.id from unnest(numbers[1:50]) number cross join lateral number_range(number) range
            join entity n on n.space_id = home and n.id between range.first and range.last)
        order by e.name_key for key share skip locked);
    insert into entity_use as u (space_id, entity_id, day, count, last_at)
    select home, id, (moment at time zone 'UTC')::date, 1, moment from unnest(used_ids) id order by id
    on conflict (space_id, entity_id, day) do update
    set count = u.count + 1, last_at = greatest(u.last_at, excluded.last_at);
    insert into joint_use as j (space_id, one, other, count, last_at)
    select home, one, other, 1, moment from unnest(used_ids[1:20]) one, unnest(used_ids[1:20]) other
    where one < other order by one, other
    on conflict (space_id, one, other) do update
    set count = j.count + 1, last_at = greatest(j.last_at, excluded.last_at);
    return cardinality(used_ids);
end
$$;

comment on function textrawl.record_use is
    'Record that an answer contained the entities with these numbers. Only the first 50 entities are recorded, and '
    'only pairs of the first 20 entities. search_semantic() ranks entities by this use. Errors: TR010, TR011 (access).';
