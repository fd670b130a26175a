create function textrawl.list_memories(
    memories uuid[] default null,   -- null: all memories
    statuses text[] default '{active,promoted,archived}',
    max_rows integer default null, skip integer default 0,
    credential bytea default null, space integer default null,
    moment timestamptz default statement_timestamp()
) returns table (
    memory_id uuid, entity_name text, content text, tags text[], entities text[], source text, context text, extra jsonb,
    strength double precision, use_count integer, created_at timestamptz, last_used timestamptz,
    status text, promoted_at timestamptz, promoted_to text, review_count integer, cross_domain_count integer,
    score double precision, review_priority double precision,
    total bigint, mean_score double precision, mean_use_count double precision  -- of all memories, not only of these rows
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
    with chosen as materialized (
        select m.*, decay_score(m.use_count, m.last_used, m.strength, policy, moment) as score
        from memory_states(home) m
        where m.status = any(statuses) and (memories is null and m.local or m.observation_id = any(memories))
          and (m.status not in ('active', 'promoted') or is_valid(m.valid_from, m.valid_until, m.closed_at, present => moment))
    ), counted as (
        select count(*) as total, avg(score) as mean_score, avg(use_count)::double precision as mean_use_count from chosen
    ), page as (
        select * from chosen order by last_used desc, observation_id limit max_rows offset skip
    )
    select c.observation_id, e.name, memory_text(home, c.observation_id), c.tags, c.entities, c.source, c.context, c.extra,
        c.strength, c.use_count, c.created_at, c.last_used, c.status, c.promoted_at, c.promoted_to, c.review_count,
        c.cross_domain_count, c.score, review_priority(c.score, policy), counted.total, counted.mean_score, counted.mean_use_count
    from page c cross join counted
    join entity e on e.space_id = home and e.id = c.entity_id
    order by c.last_used desc, c.observation_id;
end
$$;

comment on function textrawl.list_memories is
    'Memories of a space, most recently used first, or the memories with some ids. Errors: TR010, TR011 (access). '
    'Example: select content, score from textrawl.list_memories(max_rows => 10);';
