create function textrawl.answer_bar(semantic boolean default false)
returns table (
    score double precision,  -- the lowest score of a fact in an answer
    best double precision    -- the score that the best fact needs; otherwise the answer is empty
)
language sql immutable parallel safe
begin atomic
    -- A fact without any evidence has a score of 0.378 at most, see `base` in ranking_weight.
    select case when semantic then 0 else 0.38 end, case when semantic then 0 else 0.4 end;
end;

comment on function textrawl.answer_bar is
    'The lowest scores of the facts that search_memory() returns if its caller names none. '
    'Example: select score, best from textrawl.answer_bar();';
