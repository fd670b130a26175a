create function textrawl.search_score(likeness double precision, coverage double precision, trust double precision)
returns double precision
language sql immutable parallel safe
begin atomic
    -- Words and meaning are independent evidence, so both together score more than either: 1 - (1-a)(1-b).
    -- A fact without a vector gets the likeness that facts with its words usually have. The power maps the scale to
    -- the bands documented for clients; it keeps the order.
    select case when coverage is null then coalesce(likeness, 0)
        else power(1 - (1 - trust * coalesce(likeness, 0.7 * coverage)) * (1 - 0.9 * coverage), 0.75) end;
end;

comment on function textrawl.search_score is
    'Relevance of a fact from 0 to 1, by the likeness of its vector and the coverage of the query''s words; either may be '
    'null. '
    'Example: select textrawl.search_score(0.6, 0.4, 0.5);';
