create function textrawl.scale_score(
    score double precision, odds double precision,
    trust double precision default null  -- of the model, or of the words alone; null: documents
)
returns double precision
language plpgsql immutable parallel safe
as $$
declare
    -- power() undoes the power of search_score(). The two factors of search_score() are then evidence between 0 and 1,
    -- and the odds of the query move it to the ranges that are documented for clients. A model with more trust gives
    -- higher scores. So for each trust, another line brings the log of the odds to the same ranges. The numbers were
    -- fitted to everyday questions (benchmarks/figures.md). A semantic search has no odds.
    evidence double precision := power(least(score, 1), 4 / 3.0::float8);
    part     double precision := power(evidence * odds, 0.65 + 0.2 * trust) * exp(0.94 - 0.84 * trust);
begin
    return case when odds is null then score
        when trust is null then evidence * odds / (1 - evidence + evidence * odds)
        else part / (power(1 - evidence, 0.65 + 0.2 * trust) + part) end;
end
$$;

comment on function textrawl.scale_score is
    'The score that an answer shows for a rank score of a fact, with the question_odds() of the query and the trust of the '
    'model. The order of the facts of an answer stays the same. '
    'Example: select textrawl.scale_score(0.5, 1.2, 0.5);';
