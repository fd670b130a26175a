create function textrawl.named_end(content text, language text default 'english') returns timestamptz
language plpgsql immutable
set search_path from current
as $$
declare
    claim record;
    years  text[];
    months integer[];
    days   integer[];
    dates  text[];
    date   text;
begin
    claim := read_claim(content, language);
    if claim.past or claim.negative or claim.items is null then
        return null;
    end if;
    -- "until March 2024", or the time of a verb such as "expires".
    with part as (
        select substr(item, 2) as text, item, place
        from unnest(claim.items, claim.roles) with ordinality i (item, role, place)
        where role = '@until' or claim.predicate ~ '^when:(ends|expires|runs out|endet|läuft aus|finit|expire|termina|vence)$' and role = 'time'
    )
    select array_agg(distinct text) filter (where item ~ '^[%#](19|20)[0-9]{2}$'),
        array_agg(distinct substr(text, 2)::integer) filter (where item ~ '^%m[0-9]+$'),
        array_agg(distinct text::integer) filter (where item ~ '^[%#][0-9]{1,2}$'),
        array_agg(distinct text) filter (where item ~ '^%[0-9]{4}-[0-9]{2}(-[0-9]{2})?$')
    into years, months, days, dates from part;
    date := dates[1];
    if greatest(cardinality(years), cardinality(months), cardinality(days), cardinality(dates)) > 1 then
        return null;  -- The parts of two dates make a third one.
    elsif date is not null then
        return ((case when char_length(date) = 7 then date || '-01' else date end)::date
            + case when char_length(date) = 7 then interval '1 month' else interval '1 day' end) at time zone 'utc';
    elsif years is not null then
        return (case when months is null then make_date(years[1]::integer + 1, 1, 1)
            when days is null then make_date(years[1]::integer, months[1], 1) + interval '1 month'
            else make_date(years[1]::integer, months[1], days[1]) + interval '1 day' end) at time zone 'utc';
    end if;
    return null;
exception when datetime_field_overflow or invalid_datetime_format then
    return null;
end
$$;

comment on function textrawl.named_end is
    'The instant at which a fact ends by its own words: the end of the day, month or year after "until", or of a verb '
    'such as "expires", in English, German, French and Spanish. Null: its text names no end with a year, or two ends. '
    'Example: select textrawl.named_end(''has a budget of 90,000 euros until May 2025'');';
