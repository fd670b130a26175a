create function textrawl.list_clients(
    since timestamptz, max_rows integer default 50, skip integer default 0, spaces integer[] default null, credential bytea default null
) returns table (
    client text, author text,
    facts bigint,    -- facts that the author stored with the client
    answers bigint,  -- recalls that the author asked for with it
    recalled bigint, -- facts in these answers
    tokens bigint,   -- of these answers
    last_at timestamptz,
    total bigint     -- clients on all pages
)
language sql stable security definer rows 20
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, list_clients.spaces) as ids
    ), deed as (
        select o.client, o.author_id as actor_id, null::uuid[] as given, null::integer as tokens, o.created_at as at
        from textrawl.fact o
        -- The index observation_growth_idx needs the condition with -infinity.
        where o.space_id = any((select ids from scope)::integer[]) and o.created_at >= '-infinity' and o.created_at >= list_clients.since
        union all
        select r.client, r.actor_id, r.facts, r.tokens, r.at
        from textrawl.recall r
        where r.space_id = any((select ids from scope)::integer[]) and r.at >= list_clients.since
    )
    select d.client, a.name, count(*) filter (where d.tokens is null), count(d.tokens),
        coalesce(sum(cardinality(d.given)), 0), coalesce(sum(d.tokens), 0), max(d.at), count(*) over ()
    from deed d left join textrawl.actor a on a.id = d.actor_id
    where d.client is not null
    group by 1, 2
    order by max(d.at) desc, 1, 2
    limit max_rows offset skip;
end;

comment on function textrawl.list_clients is
    'Clients that stored or recalled facts since an instant, with their authors, the latest first. '
    'Errors: TR010, TR011 (access). '
    'Example: select client, author, facts from textrawl.list_clients(since => now() - interval ''30 days'');';
