create function textrawl.named_time(
    named text,     -- r05, r05-03, rs2, rw1 (rw8: weekend) or rf1: a month, day of a month, season, weekday or feast without a year; u1 to u4: a unit
    direction text, -- last, next, this, by (not after the day) or from (not before it)
    today date
) returns text
language sql immutable strict parallel safe
begin atomic
    select case
        when named like 'u%' then (
            select case substr(named, 2)
                when '4' then format('%1$s_%1$s', to_char(today + step * interval '1 year', 'YYYY'))
                when '3' then format('%1$s_%1$s', to_char(date_trunc('month', today::timestamp) + step * interval '1 month', 'YYYY-MM'))
                when '2' then (select format('%s_%s', monday, monday + 6) from (select date_trunc('week', today::timestamp)::date + 7 * step as monday) w)
                else format('%1$s_%1$s', today + step) end
            from (select case direction when 'last' then -1 when 'next' then 1 else 0 end as step) s)
        when named like 'rw%' then (
            -- Day 8 is the weekend, a Saturday with the day after it.
            select format('%s_%s', day, day + (named = 'rw8')::integer)
            from (select (least(substr(named, 3)::integer, 6 + (named = 'rw7')::integer) - extract(isodow from today)::integer + 7) % 7 as gap) g
            cross join lateral (select today + case when direction in ('last', 'by')
                then (gap - 7) % 7 - case when direction = 'last' and (gap = 0 or named = 'rw8' and gap = 6) then 7 else 0 end
                when gap = 0 and direction = 'next' then 7 else gap end as day) d)
        else (
            select format('%1$s_%1$s', label)
            from (select format('%s-%s', extract(year from today)::integer + step, substr(named, 2)) as label
                  from unnest(array[-1, 0, 1]) step) years
            where case direction
                when 'last' then textrawl.edge_day(label, false) < today
                when 'by' then textrawl.edge_day(label, true) <= today
                when 'this' then extract(year from textrawl.edge_day(label, true)) = extract(year from today)
                when 'next' then textrawl.edge_day(label, true) > today
                else textrawl.edge_day(label, false) >= today end
            order by case when direction in ('last', 'by') then label end desc, label limit 1) end;
end;

comment on function textrawl.named_time is
    'The first and the last day, month or year of a time without a year, for read_period(). '
    'Example: select textrawl.named_time(''rw1'', ''next'', ''2026-11-27'');';
