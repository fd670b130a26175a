create function textrawl.score_bar(score double precision default 0.5)
returns table (
    model text,               -- the active model; null if there is none
    cosine double precision,  -- lowest cosine of a fact that reaches the score without a word of the query
    coverage double precision -- lowest coverage of a fact that reaches the score without a vector
)
language sql stable
begin atomic
    -- Solve the formulas of scale_score() and search_score() for the likeness and for the coverage. If the trust of the
    -- model is too low, no cosine is high enough, and the result is null.
    select m.name,
        case when needed <= meaning then m.cosine_floor + needed / meaning * (m.cosine_ceiling - m.cosine_floor) end,
        (words + 0.7 * meaning - sqrt(power(words + 0.7 * meaning, 2) - 2.8 * words * meaning * needed)) / (1.4 * words * meaning)
    from (select least(1, greatest(0, score)) as given, 0.9::float8 as words) as bar
    left join textrawl.embedding_model as m on m.status = 'active'
    cross join lateral (select coalesce(m.trust, 0.5)::float8 as meaning) as share
    cross join lateral (
        select case when given < 1 then power(given / (1 - given) / exp(0.94 - 0.84 * meaning), 1 / (0.65 + 0.2 * meaning)) end as odds
    ) as raised
    cross join lateral (select coalesce(odds / (odds + textrawl.question_odds()), 1) as needed) as evidence;
end;

comment on function textrawl.score_bar is
    'The lowest cosine and the lowest coverage with which a fact reaches a score, for the active model and a query without names and unknown words. A null cosine '
    'means that no fact reaches the score by its meaning alone. '
    'Example: select * from textrawl.score_bar(0.5);';
