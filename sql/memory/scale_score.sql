create function textrawl.scale_score(score double precision, odds double precision) returns double precision
language sql immutable parallel safe
begin atomic
    -- power() undoes the power of search_score(). The two factors of search_score() are then evidence between 0 and 1,
    -- and the odds of the query move it to the ranges that are documented for clients. A semantic search has no odds.
    select case when odds is null then score else evidence * odds / (1 - evidence + evidence * odds) end
    from (select power(least(score, 1), 4 / 3.0::float8) as evidence) as unscaled;
end;

comment on function textrawl.scale_score is
    'The score that an answer shows for a rank score of a fact, with the question_odds() of the query. The order of the facts of an '
    'answer stays the same. '
    'Example: select textrawl.scale_score(0.5, 1.2);';
