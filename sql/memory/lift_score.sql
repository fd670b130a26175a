create function textrawl.lift_score(score double precision, lifted boolean) returns double precision
language sql immutable parallel safe
begin atomic
    -- A small score grows by the factor 1.4, and a large score grows by less. So the order of the scores stays the
    -- same, and no score exceeds 1.
    select case when lifted then 1 - power(1 - score, 1.4) else score end;
end;

comment on function textrawl.lift_score is
    'The score of a fact, raised if the fact was said at the time that the query names. '
    'Example: select textrawl.lift_score(0.5, true);';
