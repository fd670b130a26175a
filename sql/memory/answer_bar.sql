create function textrawl.answer_bar(vectors boolean, semantic boolean default false)
returns table (
    score double precision,  -- the lowest score of a fact in an answer
    kept integer             -- the number of the best facts that are in the answer whatever their scores are
)
language sql immutable parallel safe
begin atomic
    -- With the local embedder, these bars lose at most 0.24 points of R@10. They shorten the answer to a query about
    -- people whom the memory does not know by a third. The best three facts stay: a misspelt name scores low, too.
    select case when semantic then 0 when vectors then 0.3 else 0.2 end, 3;
end;

comment on function textrawl.answer_bar is
    'The lowest score of the facts that search_memory() returns if its caller names none. With vectors the scores are higher. '
    'Example: select score from textrawl.answer_bar(vectors => true);';
