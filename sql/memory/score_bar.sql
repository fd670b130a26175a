create function textrawl.score_bar(score double precision default 0.5)
returns table (
    model text,               -- the active model; null if there is none
    cosine double precision,  -- lowest cosine of a fact that reaches the score without a word of the query
    coverage double precision -- lowest coverage of a fact that reaches the score without a vector
)
language sql stable
begin atomic
    -- Solve the formula of search_score() for the likeness and for the coverage.
    select m.name,
        case when needed <= w.meaning then m.cosine_floor + greatest(0, needed / w.meaning) * (m.cosine_ceiling - m.cosine_floor) end,
        greatest(0, needed / (w.words + 0.7 * w.meaning))
    from (select least(0.9999, greatest(0.0001, score)) as given) as bar
    left join textrawl.embedding_model as m on m.status = 'active'
    cross join lateral textrawl.ranking_weights(m.name) as w
    cross join lateral (select ln(given / (1 - given)) - w.base as needed) as odds;
end;

comment on function textrawl.score_bar is
    'The lowest cosine and the lowest coverage with which a fact reaches a score, for the active model and a query without names. '
    'A null cosine means that no fact reaches the score by its meaning alone. '
    'Example: select * from textrawl.score_bar(0.5);';
