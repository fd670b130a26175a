create function textrawl.ranking_weights(
    model text default null  -- name of the model of the vectors; null: the words alone count
)
returns table (
    base double precision, meaning double precision, words double precision, about double precision,
    beside double precision, better double precision, period double precision,
    unheard double precision
)
language sql stable parallel safe rows 1
begin atomic
    select sum(weight) filter (where feature = 'base'),
        -- How far the vectors of a model can be trusted is measured for the model, unless it has a weight of its own.
        sum(weight * case when own then 1 else sqrt(coalesce(
            (select m.trust from textrawl.embedding_model m where m.name = ranking_weights.model), 0.5)) end) filter (where feature = 'meaning'),
        sum(weight) filter (where feature = 'words'), sum(weight) filter (where feature = 'about'),
        sum(weight) filter (where feature = 'beside'), sum(weight) filter (where feature = 'better'),
        sum(weight) filter (where feature = 'period'), sum(weight) filter (where feature = 'unheard')
    from (
        select distinct on (r.feature) r.feature, r.weight, r.model <> '*' as own from textrawl.ranking_weight r
        where r.model in ('*', coalesce(ranking_weights.model, 'none')) order by r.feature, r.model = '*') chosen;
end;

comment on function textrawl.ranking_weights is
    'The weights of the kinds of evidence, as one row. A row of ranking_weight for the model comes before the row for all '
    'models, whose weight of the meaning is multiplied by the root of the trust of the model. '
    'Example: select * from textrawl.ranking_weights();';
