create function textrawl.new_facts(
    after xid8 default null,  -- `cursor` of the last call; null: only the cursor is wanted
    spaces integer[] default null, credential bytea default null
) returns table (
    cursor text,   -- `after` of the next call
    author text,   -- null in the row of a call without new facts
    facts bigint
)
language sql stable security definer
set search_path from current
begin atomic
    -- As in changed_watches(): transactions below xmin have ended, and no event is added below it later.
    with scope as materialized (
        select textrawl.readable_spaces(credential, new_facts.spaces) as ids,
            pg_snapshot_xmin(pg_current_snapshot()) as settled
    ), counted as (
        select a.name, count(distinct o.id) as facts
        from textrawl.event v
        join textrawl.fact o on o.space_id = v.space_id and o.id = v.observation_id
        join textrawl.actor a on a.id = o.author_id
        where v.space_id = any((select ids from scope)::integer[])
          and v.transaction >= new_facts.after and v.transaction < (select settled from scope)
          and v.action in ('remembered', 'replaced', 'accepted', 'shared')
        group by a.name
    )
    select s.settled::text, c.name, coalesce(c.facts, 0) from scope s left join counted c on true order by c.facts desc, c.name;
end;

comment on function textrawl.new_facts is
    'How many facts each author has stored since the cursor of an earlier call, in the spaces that you can read. No text '
    'of a fact. Errors: TR010, TR011 (access), TR060 (a given space is a graph). '
    'Example: select cursor, author, facts from textrawl.new_facts(''0'');';
