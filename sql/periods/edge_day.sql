create function textrawl.edge_day(edge text, first boolean) returns date
language sql immutable strict parallel safe
begin atomic
    select case
        when edge like '____-__-__' then case
            when substr(edge, 6, 2) between '01' and '12' then (
                select case when right(edge, 2)::integer between 1 and extract(day from month + interval '1 month -1 day') then
                    month + right(edge, 2)::integer - 1 end
                from (select make_date(year, substr(edge, 6, 2)::integer, 1) as month) m) end
        when edge like '%-s_' then (
            -- Seasons of the northern half of the earth. A winter ends in the next year.
            select (make_date(year, 3 * substr(edge, 7)::integer, 1) + case when first then '0' else interval '3 months -1 day' end)::date)
        when edge like '%-f_' then case right(edge, 1)
            when '1' then easter when '2' then easter + 49 when '3' then make_date(year, 12, 25) when '4' then make_date(year, 1, 1)
            when '5' then make_date(year, 12, 31) when '6' then make_date(year, 10, 31) end
        when edge like '____-__' and substr(edge, 6, 2) between '01' and '12' then (
            (edge || '-01')::date + case when first then '0' else interval '1 month -1 day' end)::date
        when edge like '____' then make_date(year, case when first then 1 else 12 end, case when first then 1 else 31 end) end
    from (select left(edge, 4)::integer as year) y
    cross join lateral (
        -- Gauss's rule for the years 1900 to 2099.
        select make_date(year, 3, 22) + d + case when d = 29 and e = 6 then e - 7 when d = 28 and e = 6 and year % 19 > 10 then e - 7 else e end as easter
        from (select d, (2 * (year % 4) + 4 * (year % 7) + 6 * d + 5) % 7 as e from (select (19 * (year % 19) + 24) % 30 as d) g) h) feast;
end;

comment on function textrawl.edge_day is
    'The first or the last day of a year, month, day, season (2025-s2) or feast (2025-f1), for read_period(). '
    'Example: select textrawl.edge_day(''2025-f1'', true);';
