create function textrawl.recent_authors(since timestamptz, spaces integer[] default null, credential bytea default null)
returns table (
    author text,
    stored bigint,   -- facts that the author stored
    changed bigint,  -- facts that the author replaced, or said to be wrong
    last_at timestamptz
)
language sql stable security definer rows 10
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, recent_authors.spaces) as ids
    ), deed as (
        select o.author_id, 'stored' as kind, o.created_at as at
        from textrawl.fact o
        -- The index observation_growth_idx needs the condition with -infinity.
        where o.space_id = any((select ids from scope)::integer[]) and o.created_at >= '-infinity' and o.created_at >= recent_authors.since
        union all
        select n.author_id, 'changed', n.created_at
        from textrawl.fact n
        where n.space_id = any((select ids from scope)::integer[]) and n.created_at >= '-infinity' and n.created_at >= recent_authors.since
          and exists (select from textrawl.fact o where o.space_id = n.space_id and o.replaced_by = n.id)
        union all
        select v.actor_id, 'changed', v.revised_at
        from textrawl.revision v
        where v.space_id = any((select ids from scope)::integer[]) and v.revised_at >= recent_authors.since
    )
    select a.name, count(*) filter (where d.kind = 'stored'), count(*) filter (where d.kind = 'changed'), max(d.at)
    from deed d
    join textrawl.actor a on a.id = d.author_id
    group by a.name
    order by max(d.at) desc, a.name
    limit 20;
end;

comment on function textrawl.recent_authors is
    'Who stored or changed facts since an instant, the latest first, at most 20 authors. Errors: TR010, TR011 (access). '
    'Example: select author, stored from textrawl.recent_authors(since => now() - interval ''1 day'');';
