create function textrawl.as_of(moment timestamptz)
returns table (
    space text, entity_name text, entity_type text, content text, author text,
    valid_from timestamptz, valid_until timestamptz, observation_id uuid
)
language sql stable
begin atomic
    select s.name, e.name, o.entity_type, o.content, a.name, o.valid_from, o.valid_until, o.id
    from textrawl.fact o
    join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
    join textrawl.space s on s.id = o.space_id
    join textrawl.actor a on a.id = o.author_id
    where textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at, moment);
end;

comment on function textrawl.as_of is
    'Facts that were valid at a moment. Forgotten facts are not returned. '
    'Example: select entity_name, content from textrawl.as_of(''2026-01-31'');';
