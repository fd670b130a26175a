create function textrawl.journal_period(granularity text, date text) returns daterange
language plpgsql immutable
set search_path from current
as $$
#variable_conflict use_variable
declare
    year   integer;
    number integer;
    first  date;
begin
    -- Years from 1000 to 8999: also in another time zone, the year then has four digits.
    if date ~ '^[1-8][0-9]{3}(-W?[0-9]{2}(-[0-9]{2})?)?$' then
        year := left(date, 4);
        number := substring(date from '^.{4}-W?([0-9]{2})');
        if granularity in ('daily', 'significant') and date ~ '^.{4}-[0-9]{2}-[0-9]{2}$' then
            first := make_date(year, number, right(date, 2)::integer);
            return daterange(first, first + 1);
        elsif granularity = 'weekly' and date ~ '^.{4}-W[0-9]{2}$' then
            -- The first ISO week of a year contains January 4.
            first := date_trunc('week', make_date(year, 1, 4)::timestamp)::date + 7 * (number - 1);
            if to_char(first, 'IYYY-"W"IW') = date then
                return daterange(first, first + 7);
            end if;
        elsif granularity = 'monthly' and date ~ '^.{4}-[0-9]{2}$' then
            first := make_date(year, number, 1);
            return daterange(first, (first + interval '1 month')::date);
        elsif granularity = 'yearly' and date ~ '^.{4}$' then
            return daterange(make_date(year, 1, 1), make_date(year + 1, 1, 1));
        end if;
    end if;
    raise datetime_field_overflow;
exception when datetime_field_overflow then
    raise exception using errcode = 'TR056', message = 'the date does not fit the granularity',
        detail = format('%s is no date of a %s entry', left(date, 50), left(granularity, 50));
end
$$;

comment on function textrawl.journal_period is
    'The days of a journal entry: a day (2026-05-12) if it is daily or significant, an ISO week (2026-W19), a month '
    '(2026-05) or a year (2026). Errors: TR056 (the date does not exist, or has the form of another granularity). '
    'Example: select textrawl.journal_period(''weekly'', ''2026-W19'');';
