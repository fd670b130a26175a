create function textrawl.search_likeness(cosine double precision, floor double precision, ceiling double precision)
returns double precision
language sql immutable parallel safe
begin atomic
    -- The function is not strict, so that the planner can inline it. `case` handles null, because least and greatest
    -- ignore null.
    select case when cosine is not null then least(1, greatest(0, (cosine - floor) / (ceiling - floor))) end;
end;

comment on function textrawl.search_likeness is
    'The likeness of two texts from 0 to 1: the cosine of their vectors, scaled to the range of cosines of their '
    'model. Null if the cosine is null. '
    'Example: select textrawl.search_likeness(0.6, 0, 0.9);';
