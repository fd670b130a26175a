create function textrawl.space_timeline(
    author text default null, entity text default null,
    since timestamptz default null, until timestamptz default null,
    after_id uuid default null,  -- the last id of the page before, whose time is `until`
    max_rows integer default 50, spaces integer[] default null, credential bytea default null,
    after_end boolean default false  -- whether the last row of the page before was not `said`
) returns table (
    at timestamptz, space text,
    change text,             -- said (it began), replaced, revised (it was wrong) or ended
    relation boolean,        -- the words of a relation, and not a fact
    entity_name text, content text, valid boolean,
    author_name text, client text, tool text,  -- who made the change
    created_at timestamptz,
    instead text,            -- text of the fact that is right in its place
    reason text,             -- why it was wrong
    id uuid
)
language plpgsql stable security definer
set search_path from current
-- A generic plan does not know which filters are given, so it cannot use the index of the entity.
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
    scoped  integer[] := readable_spaces(credential, space_timeline.spaces);
    targets uuid[]    := array(select f.entity_id from find_entities(scoped, space_timeline.entity) f);
    writer  integer   := (select a.id from actor a where a.name = space_timeline.author);
    -- Not the present, because what was stored before the clock was set back has times that are still to come.
    newest  timestamptz := coalesce(space_timeline.until, 'infinity');
    last_id uuid      := coalesce(after_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
    if space_timeline.author is not null and writer is null or space_timeline.entity is not null and targets = '{}' then
        return;
    end if;
    return query
        -- Choose the page first, from the indexes alone: the other columns of its rows are then few to read.
        with entry as (
            select e.* from unnest(scoped) s (id) cross join lateral (
                (select o.space_id, o.id, o.valid_from as at, 'said' as change
                from observation o
                where o.space_id = s.id and (o.valid_from, o.id) <= (newest, last_id)
                  and (after_end or (o.valid_from, o.id) < (newest, last_id)) and (since is null or o.valid_from >= since)
                  and (entity is null or o.entity_id = any(targets)) and (writer is null or o.author_id = writer)
                order by o.valid_from desc, o.id desc limit max_rows)
                union all
                (select o.space_id, o.id, o.valid_until, 'stopped'
                from observation o
                where o.space_id = s.id and (o.valid_until, o.id) < (newest, last_id)
                  and not is_valid(o.valid_from, o.valid_until, o.closed_at) and (since is null or o.valid_until >= since)
                  and (entity is null or o.entity_id = any(targets))
                  and (writer is null or writer = coalesce(
                      (select n.author_id from observation n where n.space_id = o.space_id and n.id = o.replaced_by), o.author_id))
                  and not exists (select from revision v where v.space_id = o.space_id and v.observation_id = o.id)
                order by o.valid_until desc, o.id desc limit max_rows)) e
            union all
            (select v.space_id, v.observation_id, v.revised_at, 'revised'
            from revision v
            where v.space_id = any(scoped) and (v.revised_at, v.observation_id) < (newest, last_id)
              and (since is null or v.revised_at >= since) and (writer is null or v.actor_id = writer)
              and (entity is null or exists (
                  select from observation o
                  where o.space_id = v.space_id and o.id = v.observation_id and o.entity_id = any(targets)))
            order by v.revised_at desc, v.observation_id desc limit max_rows)
        ), page as materialized (
            -- A fact can begin and end at the same time. Its beginning is then the older entry.
            select * from entry order by at desc, id desc, change = 'said' limit max_rows
        )
        select p.at, s.name, case when p.change <> 'stopped' then p.change when n.id is null then 'ended' else 'replaced' end,
            o.relation_id is not null, e.name, o.content, is_valid(o.valid_from, o.valid_until, o.closed_at), a.name,
            case when p.change = 'revised' then v.client when n.id is not null then n.client else o.client end,
            coalesce(v.tool, n.tool, o.tool), o.created_at, n.content, v.reason, o.id
        from page p
        join observation o on o.space_id = p.space_id and o.id = p.id
        join entity e on e.space_id = o.space_id and e.id = o.entity_id
        join space s on s.id = p.space_id
        left join observation n on n.space_id = o.space_id and n.id = o.replaced_by and p.change <> 'said'
        left join revision v on v.space_id = o.space_id and v.observation_id = o.id and p.change = 'revised'
        join actor a on a.id = coalesce(v.actor_id, n.author_id, o.author_id)
        order by p.at desc, p.id desc, p.change = 'said';
end
$$;

comment on function textrawl.space_timeline is
    'Which facts and relations began, ended, were replaced or were wrong, the newest first, from every space '
    'that you can read. `entity` chooses its facts and the relations that start at it. For the next page, give the last '
    'time as `until`, the last id as `after_id`, and as `after_end` whether the last change is not `said`. Errors: TR010, TR011 (access), TR060 (a given space is a graph). '
    'Example: select at, change, entity_name, content, author_name, client from textrawl.space_timeline();';
