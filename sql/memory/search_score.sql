create function textrawl.search_score(
    likeness double precision, coverage double precision,
    base double precision, meaning double precision, words double precision  -- see ranking_weights()
)
returns double precision
language sql immutable parallel safe
begin atomic
    -- A fact without a vector gets the likeness that facts with the same coverage usually have.
    select case when coverage is null then coalesce(likeness, 0)
        else 1 / (1 + exp(-(base + meaning * coalesce(likeness, 0.7 * coverage) + words * coverage))) end;
end;

comment on function textrawl.search_score is
    'The score of a text by its likeness and its coverage alone, each from 0 to 1. Likeness and coverage can be null if one '
    'of them is unknown. '
    'Example: select textrawl.search_score(0.8, 0.5, w.base, w.meaning, w.words) from textrawl.ranking_weights() w;';
