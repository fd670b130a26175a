create function textrawl.promotion_candidates(
    memory uuid default null,      -- null: memories that can be promoted; otherwise this memory, if it exists
    max_rows integer default null,
    credential bytea default null, space integer default null,
    moment timestamptz default statement_timestamp()
) returns table (
    memory_id uuid, entity_name text, content text, tags text[], entities text[], source text, context text, extra jsonb,
    strength double precision, use_count integer, created_at timestamptz, last_used timestamptz,
    status text, promoted_at timestamptz, promoted_to text,
    score double precision, age_days double precision,
    by_score boolean,  -- the score reaches the threshold
    by_uses boolean,   -- it was used often enough while it was young
    reason text        -- the first of these two that is true, in words; null: the memory cannot be promoted
)
language plpgsql stable security definer
set search_path from current
set jit = off
as $$
#variable_conflict use_column
declare
    home   integer := graph_space(credential, space);
    policy decay_policy := space_policy(home);
begin
    return query
    select m.observation_id, e.name, memory_text(home, m.observation_id), m.tags, m.entities, m.source, m.context, m.extra,
        m.strength, m.use_count, m.created_at, m.last_used, m.status, m.promoted_at, m.promoted_to,
        p.score, p.age, reached.by_score, reached.by_uses,
        case when reached.by_score
                then format('High score (%s >= %s)', round(p.score::numeric, 2), (policy).promote_threshold)
            when reached.by_uses
                then format('Used %s times in %s days (>= %s within %s)', m.use_count, round(p.age::numeric, 1),
                            (policy).promote_use_count, (policy).promote_days) end
    from memory_states(home) m
    join entity e on e.space_id = home and e.id = m.entity_id
    cross join lateral (
        select decay_score(m.use_count, m.last_used, m.strength, policy, moment) as score,
            extract(epoch from moment - m.created_at)::double precision / 86400 as age offset 0) p
    cross join lateral (
        select p.score >= (policy).promote_threshold as by_score,
            m.use_count >= (policy).promote_use_count and p.age <= (policy).promote_days as by_uses) reached
    where m.status in ('active', 'promoted') and is_valid(m.valid_from, m.valid_until, m.closed_at, present => moment)
      -- Without an id, leave out facts of other tools: nobody saved them as memories.
      and case when memory is null
          then m.local and m.status = 'active' and m.saved and (reached.by_score or reached.by_uses)
          else m.observation_id = memory end
    order by p.score desc, m.observation_id limit max_rows;
end
$$;

comment on function textrawl.promotion_candidates is
    'The saved memories that can be promoted, highest score first, or one memory with what it lacks. Errors: TR010, '
    'TR011 (access). '
    'Example: select content, score from textrawl.promotion_candidates(max_rows => 10);';
