create function textrawl.date_words(instant timestamptz) returns text
language sql immutable strict parallel safe
begin atomic
    -- Do not use to_char() or a cast, because their results depend on settings of the session. The words of a stored
    -- fact must not change.
    select day || ' ' || (array['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September',
        'October', 'November', 'December'])[month] || ' ' || year
        || ' ' || lpad(year::text, 4, '0') || '-' || lpad(month::text, 2, '0') || '-' || lpad(day::text, 2, '0')
    from (
        select extract(day from utc)::integer as day, extract(month from utc)::integer as month,
            extract(year from utc)::integer as year
        from (select instant at time zone 'UTC' as utc where isfinite(instant)) as local_time) as date_part;
end;

comment on function textrawl.date_words is
    'The day of an instant in UTC as the words that a query may contain, such as 8 May 2023 2023-05-08. '
    'Example: select textrawl.date_words(now());';
