create function textrawl.fact_key(content text) returns text
language sql immutable strict parallel safe
begin atomic
    -- Fold only differences that never change the meaning. Keep ß, because full case folding would turn Maßen into
    -- Massen, which is another word. Keep question marks, exclamation marks, signs and units. Remove a final full stop,
    -- but not at the end of a path (..).
    select regexp_replace(
            replace(textrawl.name_key(regexp_replace(content, '[ßẞ]', chr(1), 'g')), chr(1), 'ß'),
            '(?<=[^\s./\\…])[.…。．｡।॥۔։።។။]+$', '')
        -- Units can differ only in case (5 mW, 5 MW; 10 Mb/s, 10 MB/s). So a short word after a number keeps its case.
        || coalesce((
            select string_agg(unit[1], ' ' order by place)
            from regexp_matches(content, '\d\s?([A-Za-zµμ]{1,4})(?![A-Za-zµμ])', 'g') with ordinality found (unit, place)
            where unit[1] ~ '[A-Z]' and unit[1] not in ('AM', 'PM')), '');
end;

comment on function textrawl.fact_key is
    'The form in which facts are compared: without differences of case (except in units), Unicode composition and '
    'white space, and without a final full stop. '
    'Example: select textrawl.fact_key(''Likes tea.'');';
