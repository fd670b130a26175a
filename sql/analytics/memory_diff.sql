create function textrawl.memory_diff(since timestamptz, until timestamptz default now())
returns table (
    change text,   -- + the fact became valid, - the fact stopped being valid, ! the fact was revised, as it was wrong
    at timestamptz, space text, entity_name text, content text, author text,
    instead text,  -- content of the fact that replaced this fact, or is right in its place
    observation_id uuid
)
language sql stable
begin atomic
    select case when validity.later then '+' else '-' end,
        case when validity.later then o.valid_from else o.valid_until end,
        s.name, e.name, o.content, a.name, successor.content, o.id
    from textrawl.fact o
    cross join lateral (
        select textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at, since) as earlier,
               textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at, until) as later) validity
    join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
    join textrawl.space s on s.id = o.space_id
    join textrawl.actor a on a.id = o.author_id
    left join textrawl.fact successor on successor.space_id = o.space_id and successor.id = o.replaced_by
    where validity.earlier <> validity.later
    union all
    select '!', v.revised_at, s.name, e.name, o.content, a.name, successor.content, o.id
    from textrawl.revision v
    join textrawl.fact o on o.space_id = v.space_id and o.id = v.observation_id
    join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
    join textrawl.space s on s.id = o.space_id
    join textrawl.actor a on a.id = o.author_id
    left join textrawl.fact successor on successor.space_id = o.space_id and successor.id = o.replaced_by
    where v.revised_at > since and v.revised_at <= until
    order by 2, 1 desc, 8;
end;

comment on function textrawl.memory_diff is
    'The difference between two moments: facts that are valid at only one of them, at the later moment (+) or at the '
    'earlier moment (-). Facts that were revised between the two moments are listed too (!). '
    'Example: select change, entity_name, content, instead from textrawl.memory_diff(''2026-01-01'', ''2026-02-01'');';
