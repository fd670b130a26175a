create function textrawl.search_score(likeness double precision, coverage double precision, trust double precision)
returns double precision
language sql immutable parallel safe
begin atomic
    -- Words and meaning are independent evidence a and b, combined as 1 - (1-a)(1-b). So a fact that matches by both
    -- gets a higher score than a fact that matches by one. A fact without a vector gets the likeness that facts with
    -- the same coverage usually have. The power of 0.75 keeps the order of the scores and moves them into the ranges
    -- that are documented for clients.
    select case when coverage is null then coalesce(likeness, 0)
        else power(1 - (1 - trust * coalesce(likeness, 0.7 * coverage)) * (1 - 0.9 * coverage), 0.75) end;
end;

comment on function textrawl.search_score is
    'The relevance of a fact from 0 to 1. It is computed from the likeness of its vector and the coverage of the '
    'query''s words. Each of the two can be null. '
    'Example: select textrawl.search_score(0.6, 0.4, 0.5);';
