create function textrawl.rate_proposals(days integer default 90, spaces integer[] default null, credential bytea default null)
returns table (
    author text,
    llm text,               -- provider and model of the LLM that found the proposals; null: no LLM found them
    proposed bigint,        -- without those that an undo withdrew
    pending bigint,
    accepted bigint,
    rejected bigint,
    acceptance real,        -- share of the decided proposals that were accepted; null: none is decided
    reasons jsonb           -- number of rejections for each of the three most frequent reasons, {reason: proposals}
)
language sql stable security definer rows 10
set search_path from current
begin atomic
    with seen as materialized (
        select a.name as author, p.llm, p.reason,
            case when p.decision is null and not textrawl.is_pending(null, p.created_at, s.proposal_days) then 'expired'
                 else coalesce(p.decision, 'pending') end as state
        from textrawl.proposal p
        join textrawl.space s on s.id = p.space_id
        join textrawl.actor a on a.id = p.author_id
        where p.space_id = any(textrawl.reviewed_spaces(credential))
          and (rate_proposals.spaces is null or p.space_id = any(rate_proposals.spaces))
          and p.created_at >= now() - make_interval(days => least(greatest(rate_proposals.days, 1), 3660))
          and p.finding is null and p.decision is distinct from 'withdrawn'
    )
    select s.author, s.llm, count(*), count(*) filter (where s.state = 'pending'), count(*) filter (where s.state = 'accepted'),
        count(*) filter (where s.state = 'rejected'),
        avg((s.state = 'accepted')::integer) filter (where s.state in ('accepted', 'rejected'))::real,
        (select coalesce(jsonb_object_agg(r.reason, r.times), '{}') from (
            select o.reason, count(*) as times from seen o
            where o.state = 'rejected' and o.reason is not null and (o.author, o.llm) is not distinct from (s.author, s.llm)
            group by 1 order by 2 desc, 1 limit 3) r)
    from seen s group by s.author, s.llm order by 3 desc, 1, 2;
end;

comment on function textrawl.rate_proposals is
    'The proposals of the last `days` days and their acceptance, one row for each author and each LLM, of the spaces in '
    'which the caller has the scopes read and review, without the findings of tidy_memory(). '
    'Example: select author, llm, proposed, acceptance from textrawl.rate_proposals();';
