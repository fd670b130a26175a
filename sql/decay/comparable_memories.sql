create function textrawl.comparable_memories(
    max_rows integer default 1000,
    space integer default null, credential bytea default null
) returns table (
    memory_id uuid,
    preview text,  -- the first 80 characters
    total bigint   -- number of active memories that the decay tools saved
)
language sql stable security definer rows 1000
set search_path from current
begin atomic
    with latest as (
        select m.observation_id, left(m.content, 80) as preview, m.created_at, count(*) over () as total
        from textrawl.graph_space(credential, comparable_memories.space) home
        cross join lateral textrawl.memory_states(home) m
        where m.local and m.saved and m.status = 'active' and textrawl.is_valid(m.valid_from, m.valid_until, m.closed_at)
        order by m.last_used desc, m.observation_id limit max_rows
    )
    -- The order does not change when a memory is used, so a later call finds the same clusters.
    select l.observation_id, l.preview, l.total from latest l order by l.created_at, l.observation_id;
end;

comment on function textrawl.comparable_memories is
    'The active memories that were used last, in the order in which they were stored. cluster_memories compares them. '
    'Errors: TR010, TR011 (access). '
    'Example: select memory_id, preview from textrawl.comparable_memories();';
