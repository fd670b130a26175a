create function textrawl.search_likeness(cosine double precision, floor double precision, ceiling double precision)
returns double precision
language sql immutable parallel safe
begin atomic
    -- Not strict, so that the planner can inline it. The case handles null, because least and greatest ignore it.
    select case when cosine is not null then least(1, greatest(0, (cosine - floor) / (ceiling - floor))) end;
end;

comment on function textrawl.search_likeness is
    'Similarity of two texts from 0 to 1, by the cosine of their vectors and the range of cosines of their model; null '
    'without a cosine. '
    'Example: select textrawl.search_likeness(0.6, 0, 0.9);';
