create function textrawl.entity_history(
    entity text, as_of timestamptz default null, max_rows integer default 50, skip integer default 0,
    spaces integer[] default null, credential bytea default null,
    fact uuid default null,  -- only this fact
    known_at timestamptz default null  -- by what the memory knew at this time; null: by what it knows
) returns table (
    id uuid, space text, content text, source text, confidence real, author text,
    client text, tool text,   -- the program and the tool that wrote the fact
    created_at timestamptz, said_at timestamptz, valid_from timestamptz, valid_until timestamptz,
    valid boolean,            -- at the time as_of, or now
    successor text,           -- text of the fact that replaced this fact
    wrong text,               -- the reason, if somebody marked the fact as wrong
    total bigint              -- number of facts on all pages
)
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, entity_history.spaces) as ids
    ), known as (
        -- All facts are counted and sorted, but the content is read only for the facts of the page.
        select o.space_id, o.id, o.created_at, (o.said_at at time zone 'UTC')::date as day, s.name as space, count(*) over () as total
        from textrawl.find_entities((select ids from scope)::integer[], entity_history.entity) f
        join textrawl.space s on s.id = f.space_id
        join textrawl.fact o on o.space_id = f.space_id and o.entity_id = f.entity_id
        where (entity_history.as_of is null or o.valid_from <= entity_history.as_of)
          and (entity_history.known_at is null or o.created_at <= entity_history.known_at)
          and (entity_history.fact is null or o.id = entity_history.fact)
        order by day desc, o.created_at desc, o.id limit max_rows offset skip
    )
    select o.id, known.space, o.content, o.source, o.confidence, a.name, o.client, o.tool, o.created_at, o.said_at,
        o.valid_from, ending.until,
        case when entity_history.known_at is null then textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at, entity_history.as_of)
             else textrawl.was_valid(o.valid_from, ending.until, o.created_at, entity_history.as_of, entity_history.known_at) end,
        case when ending.until is not distinct from o.valid_until then successor.content end,
        case when w.revised_at <= coalesce(entity_history.known_at, 'infinity') then w.reason end, known.total
    from known
    join textrawl.fact o on o.space_id = known.space_id and o.id = known.id
    join textrawl.actor a on a.id = o.author_id
    left join textrawl.revision w on w.space_id = o.space_id and w.observation_id = o.id
    left join textrawl.fact successor on successor.space_id = o.space_id and successor.id = o.replaced_by
    cross join lateral (
        select case when entity_history.known_at is null then o.valid_until
                    else textrawl.known_end(o.space_id, o.id, null, o.valid_until, entity_history.known_at) end as until) ending
    order by known.day desc, o.created_at desc, o.id;
end;

comment on function textrawl.entity_history is
    'All facts of an entity, valid and ended, said last first, from every space that you can read. Each has its author and '
    'the client and the tool that wrote it. If as_of is given, only the facts that had begun at that time. An unknown '
    'name gives no row. Errors: TR010, TR011 (access), TR060 (a given space is a graph). '
    'Example: select content, author, valid, successor from textrawl.entity_history(''Jeff'');';
