create function textrawl.question_odds(
    unknown double precision default 0,  -- share of the weight of the query's words that no fact has
    names double precision default 0,    -- share of the weight of the names in the query
    stranger boolean default false       -- the query is about a name that no fact has, and names no entity
)
returns double precision
language sql immutable parallel safe
begin atomic
    -- All facts of a named entity have its name. So the name is no evidence that one of them answers the query,
    -- unless the query is only a name. A word that no fact has lowers the coverage of every fact, even of the right
    -- one. The numbers were fitted to development data (benchmarks/figures.md).
    select exp(0.2 + case when unknown < 0.999 then 0.5 * unknown else 0 end
        - case when names < 0.999 then 1.2 * names else 0 end - case when stranger then 2 else 0 end);
end;

comment on function textrawl.question_odds is
    'The factor by which a query multiplies the odds that a fact is relevant. It is the same for all facts of the answer. '
    'Example: select textrawl.question_odds(unknown => 0.2, names => 0.3);';
