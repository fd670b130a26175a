create function textrawl.as_of(
    moment timestamptz,
    known_at timestamptz default null  -- by what the memory knew at this time; null: by what it knows
)
returns table (
    space text, entity_name text, entity_type text, content text, author text,
    valid_from timestamptz, valid_until timestamptz, observation_id uuid, created_at timestamptz
)
language sql stable
begin atomic
    select s.name, e.name, o.entity_type, o.content, a.name, o.valid_from, known.until, o.id, o.created_at
    from textrawl.fact o
    join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
    join textrawl.space s on s.id = o.space_id
    join textrawl.actor a on a.id = o.author_id
    cross join lateral (
        select case when known_at is null then o.valid_until
                    else textrawl.known_end(o.space_id, o.id, null, o.valid_until, known_at) end as until) known
    where case when known_at is null then textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at, moment)
               else textrawl.was_valid(o.valid_from, known.until, o.created_at, moment, known_at) end;
end;

comment on function textrawl.as_of is
    'Facts that were valid at a moment. With `known_at`, what the memory knew about that moment then. Forgotten facts '
    'are not returned. '
    'Example: select entity_name, content from textrawl.as_of(''2026-01-31'');';
