create function textrawl.entity_history(
    entity text, as_of timestamptz default null, max_rows integer default 50, skip integer default 0,
    spaces integer[] default null, credential bytea default null,
    fact uuid default null,  -- only this fact
    known_at timestamptz default null,  -- by what the memory knew at this time; null: by what it knows
    chosen uuid[] default null,         -- only these facts
    words text default null,            -- only facts that contain this text, in any case
    state text default null,            -- only facts in this state: valid, ended or wrong
    written_by text default null,       -- only facts of this author
    sort text default 'said'            -- said last first, or by: oldest, text, author
) returns table (
    id uuid, space text, content text, source text, confidence real, author text,
    client text, tool text,   -- the program and the tool that wrote the fact
    created_at timestamptz, said_at timestamptz, valid_from timestamptz, valid_until timestamptz,
    valid boolean,            -- at the time as_of, or now
    successor text,           -- text of the fact that replaced this fact
    wrong text,               -- the reason, if somebody marked the fact as wrong
    wrong_at timestamptz,     -- when somebody did
    repository text, anchors text[],
    evidence text, evidence_start integer,  -- the sentence of a text from which an LLM took the fact, and its place there
    pinned boolean,           -- every digest begins with the fact
    origin text,              -- said, inferred or external: see find_origin()
    total bigint              -- number of facts on all pages
)
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, entity_history.spaces) as ids
    ), pin as materialized (
        select p.observation_id as id from textrawl.pinned_facts((select ids from scope)::integer[]) p
    ), known as (
        -- All facts are counted and sorted, but the whole content is read only for the facts of the page.
        select o.space_id, o.id, s.name as space, a.name as author, ending.until, w.reason, w.revised_at, state.valid,
            count(*) over () as total, row_number() over (order by
                case when sort = 'text' then lower(o.content) when sort = 'author' then a.name end,
                case when sort = 'oldest' then o.said_at end,
                (o.said_at at time zone 'UTC')::date desc, o.created_at desc, o.id) as place
        from textrawl.find_entities((select ids from scope)::integer[], entity_history.entity) f
        join textrawl.space s on s.id = f.space_id
        join textrawl.fact o on o.space_id = f.space_id and o.entity_id = f.entity_id
        join textrawl.actor a on a.id = o.author_id
        left join textrawl.revision w on w.space_id = o.space_id and w.observation_id = o.id
            and w.revised_at <= coalesce(entity_history.known_at, 'infinity')
        cross join lateral (
            select case when entity_history.known_at is null then o.valid_until
                        else textrawl.known_end(o.space_id, o.id, null, o.valid_until, entity_history.known_at) end as until) ending
        cross join lateral (
            select case when entity_history.known_at is null then textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at, entity_history.as_of)
                        else textrawl.was_valid(o.valid_from, ending.until, o.created_at, entity_history.as_of, entity_history.known_at) end as valid) state
        where (entity_history.as_of is null or o.valid_from <= entity_history.as_of)
          and (entity_history.known_at is null or o.created_at <= entity_history.known_at)
          and (entity_history.fact is null or o.id = entity_history.fact)
          and (chosen is null or o.id = any(chosen))
          and (words is null or position(lower(words) in lower(o.content)) > 0)
          and (entity_history.state is null
               or entity_history.state = case when w.reason is not null then 'wrong' when state.valid then 'valid' else 'ended' end)
          and (written_by is null or a.name = written_by)
        order by place limit max_rows offset skip
    )
    select o.id, known.space, o.content, o.source, o.confidence, known.author, o.client, o.tool, o.created_at, o.said_at,
        o.valid_from, known.until, known.valid,
        case when known.until is not distinct from o.valid_until then successor.content end,
        known.reason, known.revised_at, o.repository, o.anchors, o.evidence, o.evidence_start, o.id in (select pin.id from pin),
        textrawl.find_origin(o.origin, o.tool, o.client, o.source), known.total
    from known
    join textrawl.fact o on o.space_id = known.space_id and o.id = known.id
    left join textrawl.fact successor on successor.space_id = o.space_id and successor.id = o.replaced_by
    order by known.place;
end;

comment on function textrawl.entity_history is
    'All facts of an entity, valid and ended, said last first, from every space that you can read. Each has its author and '
    'the client and the tool that wrote it. If as_of is given, only the facts that had begun at that time. An unknown '
    'name gives no row. Errors: TR010, TR011 (access), TR060 (a given space is a graph). '
    'Example: select content, author, valid, successor from textrawl.entity_history(''Jeff'');';
