create function textrawl.search_score(likeness double precision, coverage double precision, trust double precision)
returns double precision
language sql immutable parallel safe
begin atomic
    -- Each arm is evidence by itself, and both together are more than either: 1 - (1-a)(1-b). A fact
    -- without a vector is taken to be as like the query as facts with its words usually are. The power
    -- bends the scale to the bands that clients are promised; it changes no order.
    select case when coverage is null then coalesce(likeness, 0)
        else power(1 - (1 - trust * coalesce(likeness, 0.7 * coverage)) * (1 - 0.9 * coverage), 0.75) end;
end;

comment on function textrawl.search_score is
    'Relevance from 0 to 1 of a fact by likeness of its vector and coverage of the query''s words, either of which may be null. Example: select textrawl.search_score(0.6, 0.4, 0.5);';
