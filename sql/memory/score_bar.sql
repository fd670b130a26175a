create function textrawl.score_bar(score double precision default 0.5)
returns table (
    model text,               -- the active model; null if there is none
    cosine double precision,  -- lowest cosine of a fact that reaches the score without a word of the query
    coverage double precision -- lowest coverage of a fact that reaches the score without a vector
)
language sql stable
begin atomic
    -- Solve the formulas of scale_score() and search_score() for the likeness and for the coverage. If the trust of the model is too low,
    -- no cosine is high enough, and the result is null.
    select m.name,
        case when needed <= m.trust then m.cosine_floor + needed / m.trust * (m.cosine_ceiling - m.cosine_floor) end,
        (words + meaning - sqrt(power(words + meaning, 2) - 4 * words * meaning * needed)) / (2 * words * meaning)
    from (select given / (given + textrawl.question_odds() * (1 - given)) as needed
          from (select least(1, greatest(0, score)) as given) as limits) as bar
    left join textrawl.embedding_model as m on m.status = 'active'
    cross join lateral (select 0.9::float8 as words, 0.7 * coalesce(m.trust, 0.5)::float8 as meaning) as share;
end;

comment on function textrawl.score_bar is
    'The lowest cosine and the lowest coverage with which a fact reaches a score, for the active model and a query without names and unknown words. A null cosine '
    'means that no fact reaches the score by its meaning alone. '
    'Example: select * from textrawl.score_bar(0.5);';
