create function textrawl.numbers_in(content text) returns text[]
language sql immutable strict parallel safe
begin atomic
    select coalesce(array_agg(found[1] order by found[1]), '{}')
    from regexp_matches(lower(content),
        '([0-9]+(?:[.,:/-][0-9]+)*|\m(?:january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\M)', 'g') found;
end;

comment on function textrawl.numbers_in is
    'The numbers, months and weekdays of a text, sorted. Two similar facts with different numbers, months or weekdays '
    'state different things. '
    'Example: select textrawl.numbers_in(''moved to Oslo in May 2019'');';
