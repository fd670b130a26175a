create function textrawl.fact_key(content text) returns text
language sql immutable strict parallel safe
set search_path from current
begin atomic
    -- Fold only what never changes the meaning. ß stays: full case folding would turn Maßen into Massen, another word.
    -- Question marks, exclamation marks, signs and units stay. A final full stop goes, but not that of a path (..).
    select regexp_replace(
            replace(textrawl.name_key(regexp_replace(content, '[ßẞ]', chr(1), 'g')), chr(1), 'ß'),
            '(?<=[^\s./\\…])[.…。．｡।॥۔։።។။]+$', '')
        -- Case distinguishes units (5 mW, 5 MW; 10 Mb/s, 10 MB/s): a short word after a number keeps its case.
        || coalesce((
            select string_agg(unit[1], ' ' order by place)
            from regexp_matches(content, '\d\s?([A-Za-zµμ]{1,4})(?![A-Za-zµμ])', 'g') with ordinality found (unit, place)
            where unit[1] ~ '[A-Z]' and unit[1] not in ('AM', 'PM')), '');
end;

comment on function textrawl.fact_key is
    'The form in which facts are compared: case (except in units), composition and white space are folded, a final full '
    'stop is removed. '
    'Example: select textrawl.fact_key(''Likes tea.'');';
