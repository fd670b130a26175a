create function textrawl.recall_costs(last integer default 100, spaces integer[] default null, credential bytea default null)
returns table (recalls bigint, p50 integer, p95 integer, largest integer, cut bigint, dropped bigint, since timestamptz)
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
    'Tokens of the last recalls: how many recalls, median, 95th percentile, largest; how many were cut to their budget, and how many items that cost. Example: select * from textrawl.recall_costs(last => 1000);';
