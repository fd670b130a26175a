create function textrawl.recall_costs(last integer default 100, spaces integer[] default null, credential bytea default null)
returns table (
    recalls bigint,
    p50 integer, p95 integer, largest integer,  -- tokens of one recall: median, 95th percentile, maximum
    cut bigint,        -- number of recalls that left out items to stay within their budget
    dropped bigint,    -- number of items that were left out
    since timestamptz  -- time of the oldest of these recalls
)
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, recall_costs.spaces) as ids
    ), newest as (
        select r.at, r.tokens, r.dropped from textrawl.recall r
        where r.space_id = any((select ids from scope)::integer[]) order by r.at desc, r.id desc limit greatest(last, 0)
    )
    select count(*),
           percentile_disc(0.5) within group (order by tokens),
           percentile_disc(0.95) within group (order by tokens),
           max(tokens),
           count(*) filter (where newest.dropped > 0),
           coalesce(sum(newest.dropped), 0),
           min(at)
    from newest;
end;

comment on function textrawl.recall_costs is
    'The cost of the newest recalls: median, 95th percentile and maximum of their tokens, and how many recalls left '
    'out items to stay within their budget. '
    'Example: select * from textrawl.recall_costs(last => 1000);';
