create function textrawl.review_queue(
    max_rows integer default 50, skip integer default 0, credential bytea default null, space integer default null,
    moment timestamptz default statement_timestamp()
) returns table (
    memory_id uuid, entity_name text, content text, state text,  -- fading (the next gc takes it) or due (for review)
    score double precision, use_count integer, last_used timestamptz, tags text[],
    total bigint  -- number of memories on all pages
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
    with rated as materialized (
        select r.observation_id, r.use_count, r.last_used, r.tags, now.score,
            now.score < (policy).forget_threshold as fading, review_priority(now.score, policy) as priority
        from retention r
        cross join lateral (select decay_score(r.use_count, r.last_used, r.strength, policy, moment) as score offset 0) now
        where r.space_id = home and r.status = 'active' and r.saved
    ), listed as (
        select r.*, o.entity_id, count(*) over () as total from rated r
        join fact o on o.space_id = home and o.id = r.observation_id
        where (r.fading or r.priority > 0) and is_valid(o.valid_from, o.valid_until, o.closed_at, present => moment)
        order by r.fading desc, case when r.fading then r.score end, r.priority desc, r.observation_id limit max_rows offset skip
    )
    select l.observation_id, e.name, memory_text(home, l.observation_id), case when l.fading then 'fading' else 'due' end,
        l.score, l.use_count, l.last_used, l.tags, l.total
    from listed l join entity e on e.space_id = home and e.id = l.entity_id
    order by l.fading desc, case when l.fading then l.score end, l.priority desc, l.observation_id;
end
$$;

comment on function textrawl.review_queue is
    'Memories of the decay tools that somebody should look at: those that the next gc would take, lowest score first, and '
    'then those that are due for review. Errors: TR010, TR011 (access), TR060 (the space is a graph). '
    'Example: select state, content from textrawl.review_queue();';
