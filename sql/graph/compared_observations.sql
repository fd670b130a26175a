create function textrawl.compared_observations(
    most_pairs bigint default 200000, space integer default null, credential bytea default null
) returns table (
    compared bigint,  -- number of facts that are compared
    facts bigint      -- number of all facts of entities with at least two facts
)
language sql stable security definer
set search_path from current
begin atomic
    select coalesce(sum(c.compared), 0)::bigint, coalesce(sum(c.facts), 0)::bigint
    from textrawl.pair_candidates(textrawl.graph_space(credential, space), most_pairs => compared_observations.most_pairs) c;
end;

comment on function textrawl.compared_observations is
    'The number of facts that similar_observations() compares, and the number of facts of the same entities. Errors: '
    'TR010, TR011 (access). '
    'Example: select compared, facts from textrawl.compared_observations();';
