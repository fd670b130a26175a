create function textrawl.llm_usage(days integer default 90, spaces integer[] default null, credential bytea default null)
returns table (
    purpose text,
    calls bigint,
    failures bigint,
    requests bigint,              -- HTTP requests, with retries
    tokens_in bigint,             -- tokens of the prompts
    tokens_out bigint,            -- tokens of the answers
    p50_ms double precision,      -- median time of a call
    errors jsonb,                 -- number of failures of each kind, {code: calls}
    last_at timestamptz
)
language sql stable security definer rows 5
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, llm_usage.spaces) as ids
    ), use as materialized (
        select u.purpose, u.requests, u.tokens_in, u.tokens_out, u.milliseconds, u.error, u.at
        from textrawl.llm_use u
        where u.space_id = any((select ids from scope)::integer[])
          and u.at >= now() - make_interval(days => least(greatest(llm_usage.days, 1), 3660))
    ), failed as (
        select f.purpose, jsonb_object_agg(f.error, f.n) as errors
        from (select use.purpose, use.error, count(*) as n from use where use.error is not null group by 1, 2) f
        group by 1
    )
    select use.purpose, count(*), count(use.error), sum(use.requests)::bigint, sum(use.tokens_in)::bigint,
        sum(use.tokens_out)::bigint, percentile_cont(0.5) within group (order by use.milliseconds),
        coalesce((select failed.errors from failed where failed.purpose = use.purpose), '{}'), max(use.at)
    from use group by use.purpose order by use.purpose;
end;

comment on function textrawl.llm_usage is
    'The calls to the LLM in the last `days` days, one row for each purpose. Errors: TR010, TR011 (access). '
    'Example: select purpose, calls, tokens_in, tokens_out from textrawl.llm_usage(days => 30);';
