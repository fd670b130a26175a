create function textrawl.merged_values(
    space integer, memories uuid[], cohesion double precision, moment timestamptz default statement_timestamp(),
    out members bigint,  -- number of these memories that are active
    out tags text[], out entities text[], out source text, out context text, out extra jsonb,
    out strength double precision, out use_count integer, out last_used timestamptz, out created_at timestamptz
)
language sql stable
begin atomic
    with member as materialized (
        select m.* from textrawl.memory_states(merged_values.space) m
        where m.observation_id = any(memories) and m.status = 'active'
          and textrawl.is_valid(m.valid_from, m.valid_until, m.closed_at, present => moment)
    )
    select count(*),
        array(select distinct tag from member, unnest(member.tags) tag order by 1),
        array(select distinct entity from member, unnest(member.entities) entity order by 1),
        (array_agg(m.source order by m.created_at) filter (where m.source is not null))[1],
        (array_agg(m.context order by m.created_at) filter (where m.context is not null))[1],
        coalesce((select jsonb_object_agg(pair.key, pair.value order by x.created_at) from member x, jsonb_each(x.extra) pair), '{}'),
        least(2, max(m.strength) + least(0.1 * cohesion * count(*), 0.5)),
        least(sum(m.use_count), 2000000000)::integer, max(m.last_used), min(m.created_at)
    from member m;
end;

comment on function textrawl.merged_values is
    'The values of the memory that replaces some memories: all tags and entities, the sum of the uses, the first '
    'creation, the last use, and a strength that grows with their number and their cohesion.';
