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
        with begun as (
            select b.* from unnest(scoped) s (id) cross join lateral (
                select o.space_id, o.id, o.valid_from as at, 'said' as change, o.author_id, o.client, o.tool
                from observation o
                where o.space_id = s.id and o.valid_from <= newest and (o.valid_from < newest or o.id < last_id or after_end and o.id = last_id)
                  and (since is null or o.valid_from >= since)
                  and (entity is null or o.entity_id = any(targets)) and (writer is null or o.author_id = writer)
                order by o.valid_from desc, o.id desc limit max_rows) b
        ), stopped as (
            select b.* from unnest(scoped) s (id) cross join lateral (
                select o.space_id, o.id, o.valid_until as at, case when n.id is null then 'ended' else 'replaced' end as change,
                    coalesce(n.author_id, o.author_id) as author_id,
                    case when n.id is null then o.client else n.client end as client, coalesce(n.tool, o.tool) as tool
                from observation o
                -- `limit 1` makes the planner look up each successor by its key. It would read all facts of the space instead.
                left join lateral (
                    select n.* from observation n where n.space_id = o.space_id and n.id = o.replaced_by limit 1) n on true
                where o.space_id = s.id and o.valid_until <= newest and (o.valid_until < newest or o.id < last_id)
                  and not is_valid(o.valid_from, o.valid_until, o.closed_at) and (since is null or o.valid_until >= since)
                  and (entity is null or o.entity_id = any(targets))
                  and (writer is null or coalesce(n.author_id, o.author_id) = writer)
                  and not exists (select from revision v where v.space_id = o.space_id and v.observation_id = o.id)
                order by o.valid_until desc, o.id desc limit max_rows) b
        ), revised as (
            select v.space_id, v.observation_id as id, v.revised_at as at, 'revised' as change, v.actor_id, v.client, v.tool
            from revision v
            where v.space_id = any(scoped) and v.revised_at <= newest and (v.revised_at < newest or v.observation_id < last_id)
              and (since is null or v.revised_at >= since) and (writer is null or v.actor_id = writer)
              and (entity is null or exists (
                  select from observation o
                  where o.space_id = v.space_id and o.id = v.observation_id and o.entity_id = any(targets)))
            order by v.revised_at desc, v.observation_id desc limit max_rows
        ), page as (
            select * from (select * from begun union all select * from stopped union all select * from revised) entry
            -- A fact can begin and end at the same time. Its beginning is then the older entry.
            order by at desc, id desc, change = 'said' limit max_rows
        )
        select p.at, s.name, p.change, o.relation_id is not null, e.name, o.content, is_valid(o.valid_from, o.valid_until, o.closed_at),
            a.name, p.client, p.tool, o.created_at, case when p.change <> 'said' then n.content end,
            case when p.change = 'revised' then v.reason end, o.id
        from page p
        join observation o on o.space_id = p.space_id and o.id = p.id
        join entity e on e.space_id = o.space_id and e.id = o.entity_id
        join space s on s.id = p.space_id
        join actor a on a.id = p.author_id
        left join observation n on n.space_id = o.space_id and n.id = o.replaced_by
        left join revision v on v.space_id = o.space_id and v.observation_id = o.id
        order by p.at desc, p.id desc, p.change = 'said';
end
$$;

comment on function textrawl.space_timeline is
    'Which facts and relations began, ended, were replaced or were wrong, the newest first, from every space '
    'that you can read. `entity` chooses its facts and the relations that start at it. For the next page, give the last '
    'time as `until`, the last id as `after_id`, and as `after_end` whether the last change is not `said`. Errors: TR010, TR011 (access), TR060 (a given space is a graph). '
    'Example: select at, change, entity_name, content, author_name, client from textrawl.space_timeline();';
