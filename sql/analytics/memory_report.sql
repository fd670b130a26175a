create function textrawl.memory_report(days integer default 90, spaces integer[] default null, credential bytea default null)
returns table (
    growth jsonb,       -- number of facts stored in each week, [{week, facts}]
    sources jsonb,      -- number of facts of each source, {source: facts}
    authors jsonb,      -- the ten authors with the most facts, [{author, facts}]
    recalls jsonb,      -- {calls, tokens, verbose_tokens, priced, p50_ms, p95_ms, cut, since};
                        -- verbose_tokens: estimated from the calls whose verbose tokens were counted
                        -- priced: number of these calls; cut: number of answers that left out items
    recall_days jsonb,  -- the last 30 days, [{day, calls, tokens, p50_ms}]
    slowest jsonb,      -- the five slowest recalls, [{milliseconds, mode, asked, kept, hits, tokens, at}]
    stale jsonb,        -- see memory_stale: {reasons, facts, oldest}; oldest: [{space, id, entity, fact, reasons, at}]
    unanswered jsonb,   -- see memory_unanswered: {questions, most}; most: [{asked, kept, times, score, at}]; kept: asked is no hash
    llm jsonb,          -- calls to the LLM of each purpose, see llm_usage: [{purpose, calls, failures, tokens_in, ...}]
    proposals jsonb     -- see rate_proposals, for reviewers: [{author, llm, proposed, pending, accepted, rejected, acceptance, reasons}]
)
language plpgsql stable security definer
set search_path from current
set jit = off
as $$
#variable_conflict use_column
declare
    scoped integer[] := readable_spaces(credential, memory_report.spaces);
    names  text[] := array(select s.name from space s where s.id = any(scoped));
    since  timestamptz := now() - make_interval(days => least(greatest(days, 1), 3660));
    first_day timestamptz := date_trunc('day', greatest(since, now() - interval '30 days'));
    weeks  timestamptz[] := array(select generate_series(date_trunc('week', since), now(), '1 week'));
begin
    -- The next two statements read only the index observation_growth_idx, which needs the condition with -infinity. Also
    -- list weeks without facts, because a chart shows all weeks.
    select coalesce(jsonb_agg(jsonb_build_object('week', week::date, 'facts', coalesce(stored.facts, 0)) order by week), '[]')
    into growth
    from unnest(weeks) with ordinality w (week, week_number)
    left join (
        select width_bucket(o.created_at, weeks) as week_number, count(*) as facts from fact o
        where o.space_id = any(scoped) and o.created_at >= weeks[1] and o.created_at < weeks[cardinality(weeks)] + interval '1 week'
          and o.created_at >= '-infinity'
        group by 1) stored using (week_number);

    with told as materialized (
        select o.source, o.author_id, count(*) as facts from fact o
        where o.space_id = any(scoped) and o.created_at >= '-infinity' group by 1, 2
    )
    select (select coalesce(jsonb_object_agg(s.source, s.facts), '{}')
            from (select t.source, sum(t.facts) as facts from told t group by 1) s),
           (select coalesce(jsonb_agg(jsonb_build_object('author', a.author, 'facts', a.facts) order by a.facts desc, a.author), '[]')
            from (select actor.name as author, sum(t.facts) as facts from told t join actor on actor.id = t.author_id
                  group by 1 order by 2 desc, 1 limit 10) a)
    into sources, authors;

    select jsonb_build_object(
        'calls', count(*), 'tokens', coalesce(sum(r.tokens), 0),
        -- Verbose tokens are counted only for some answers. Assume the same ratio for all answers.
        'verbose_tokens', round(sum(r.tokens) * (sum(r.verbose_tokens)
            / nullif(sum(r.tokens) filter (where r.verbose_tokens is not null), 0)::numeric)),
        'priced', count(r.verbose_tokens),
        'p50_ms', round((percentile_cont(array[0.5, 0.95]) within group (order by r.milliseconds))[1]::numeric, 1),
        'p95_ms', round((percentile_cont(array[0.5, 0.95]) within group (order by r.milliseconds))[2]::numeric, 1),
        'cut', count(*) filter (where r.dropped > 0), 'since', min(r.at)) into recalls
    from recall r where r.space_id = any(scoped) and r.at >= since;

    select coalesce(jsonb_agg(jsonb_build_object(
        'day', day::date, 'calls', coalesce(calls, 0), 'tokens', coalesce(tokens, 0), 'p50_ms', p50) order by day), '[]')
    into recall_days
    from generate_series(first_day, now(), '1 day') day
    left join (
        select date_trunc('day', r.at) as recall_day, count(*) as calls, sum(r.tokens) as tokens,
               round(percentile_cont(0.5) within group (order by r.milliseconds)::numeric, 1) as p50
        from recall r where r.space_id = any(scoped) and r.at >= greatest(since, first_day) group by 1) d on recall_day = day;

    select coalesce(jsonb_agg(jsonb_build_object(
        'milliseconds', round(milliseconds::numeric, 1), 'mode', mode, 'asked', coalesce(query, query_hash),
        'kept', query is not null, 'hits', hits, 'tokens', tokens, 'at', at) order by milliseconds desc), '[]') into slowest
    from (select * from recall r where r.space_id = any(scoped) and r.at >= since and r.milliseconds is not null
          order by r.milliseconds desc limit 5) r;

    with stale as materialized (
        select s.space_id, s.id, s.created_at, s.old, s.doubtful, s.unused, s.outdated from stale_fact s where s.space_id = any(scoped)
    ), oldest as (
        select s.space_id, s.id, s.created_at from stale s join local_facts() f using (space_id, id) order by s.created_at, s.id limit 5
    )
    select jsonb_build_object(
        'reasons', jsonb_strip_nulls(jsonb_build_object(
            'old', nullif(count(*) filter (where s.old), 0), 'low confidence', nullif(count(*) filter (where s.doubtful), 0),
            'never recalled', nullif(count(*) filter (where s.unused), 0),
            'recalled though replaced', nullif(count(*) filter (where s.outdated), 0))),
        'facts', count(*),
        'oldest', (select coalesce(jsonb_agg(jsonb_build_object(
                       'space', p.name, 'id', f.id, 'entity', e.name, 'fact', f.content, 'reasons', f.reasons, 'at', f.created_at)
                       order by f.created_at, f.id), '[]')
                   from oldest o
                   join stale_fact f on f.space_id = o.space_id and f.id = o.id
                   join entity e on e.space_id = f.space_id and e.id = f.entity_id
                   join space p on p.id = f.space_id))
    into stale from stale s;

    with open_question as materialized (
        select v.* from memory_unanswered v where v.space = any(names) and v.last_at >= since
    )
    select jsonb_build_object(
        'questions', (select count(*) from open_question),
        'most', (select coalesce(jsonb_agg(jsonb_build_object(
                         'asked', coalesce(query, query_hash), 'kept', query is not null, 'times', times, 'score', round(score::numeric, 2), 'at', last_at)
                                  order by times desc, last_at desc), '[]')
                 from (select * from open_question order by times desc, last_at desc limit 5) most)) into unanswered;

    select coalesce(jsonb_agg(jsonb_build_object(
        'purpose', u.purpose, 'calls', u.calls, 'failures', u.failures, 'tokens_in', u.tokens_in, 'tokens_out', u.tokens_out,
        'p50_ms', round(u.p50_ms::numeric), 'errors', u.errors) order by u.purpose), '[]') into llm
    from llm_usage(days, scoped, credential) u;
    select coalesce(jsonb_agg(to_jsonb(p)), '[]') into proposals from rate_proposals(days, scoped, credential) p;
    return next;
end
$$;

comment on function textrawl.memory_report is
    'The numbers that `textrawl stats` shows for the last days: growth, sources, authors, recalls and their costs, '
    'stale facts, unanswered queries, calls to the LLM and the acceptance of proposals. Errors: TR010, TR011 (access). '
    'Example: select recalls from textrawl.memory_report(days => 30);';
