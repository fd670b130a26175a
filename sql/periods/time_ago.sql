create function textrawl.time_ago(number integer, unit integer, today date) returns text
language sql immutable strict parallel safe
begin atomic
    select format('%1$s_%1$s', to_char(today - number * (array['1 day', '1 week', '1 month', '1 year'])[unit]::interval,
        (array['YYYY-MM-DD', 'YYYY-MM-DD', 'YYYY-MM', 'YYYY'])[unit]));
end;

comment on function textrawl.time_ago is
    'The day, month or year some days (1), weeks (2), months (3) or years (4) before a day, for read_period(). '
    'Example: select textrawl.time_ago(3, 4, ''2026-11-27'');';
