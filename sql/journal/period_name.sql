create function textrawl.period_name(granularity text, day date) returns text
language sql immutable parallel safe
begin atomic
    select to_char(day, case granularity when 'weekly' then 'IYYY-"W"IW' when 'monthly' then 'YYYY-MM' when 'yearly' then 'YYYY'
                        else 'YYYY-MM-DD' end);
end;

comment on function textrawl.period_name is
    'The week, month or year that contains a day, as the date of a journal entry. '
    'Example: select textrawl.period_name(''weekly'', ''2026-05-12'');';
