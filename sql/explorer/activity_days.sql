create function textrawl.activity_days(weeks integer default 26, spaces integer[] default null, credential bytea default null)
returns table (day date, facts bigint)  -- each day since a Monday, also days without a fact
language sql stable security definer rows 200
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, activity_days.spaces) as ids,
            date_trunc('week', now() at time zone 'UTC')::date - 7 * (least(greatest(weeks, 1), 520) - 1) as first_day
    ), stored as materialized (
        select (o.created_at at time zone 'UTC')::date as day, count(*) as facts
        from textrawl.fact o
        -- The index observation_growth_idx needs the condition with -infinity.
        where o.space_id = any((select ids from scope)::integer[]) and o.created_at >= '-infinity'
          and o.created_at >= (select first_day::timestamp at time zone 'UTC' from scope)
        group by 1
    )
    select d.day::date, coalesce(s.facts, 0)
    from scope, generate_series(scope.first_day::timestamp, now() at time zone 'UTC', '1 day') d (day)
    left join stored s on s.day = d.day::date
    order by d.day;
end;

comment on function textrawl.activity_days is
    'How many facts were stored on each day (UTC) of the last weeks, the oldest day first. Errors: TR010, TR011 (access). '
    'Example: select day, facts from textrawl.activity_days(weeks => 4);';
