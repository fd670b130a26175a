create function textrawl.answer_bar(
    semantic boolean default false,
    documents boolean default false  -- true: only documents are searched
)
returns table (
    score double precision,  -- the lowest score of a fact in an answer
    best double precision    -- the score that the best fact needs; otherwise the answer is empty
)
language sql immutable parallel safe
begin atomic
    select case when semantic then 0 when documents then 0.34 else 0.35 end,
        case when semantic then 0 when documents then 0.36 else 0.4 end;
end;

comment on function textrawl.answer_bar is
    'The lowest scores of the facts that search_memory() returns if its caller names none. '
    'Example: select score, best from textrawl.answer_bar();';
