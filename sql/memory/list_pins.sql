create function textrawl.list_pins(spaces integer[] default null, credential bytea default null) returns table (
    observation_id uuid, space text, entity_name text, content text,
    valid boolean,  -- false: the fact is over, and no digest has it
    author text,    -- who pinned the fact
    pinned_at timestamptz
)
language sql stable security definer rows 12
set search_path from current
begin atomic
    select f.id, s.name, e.name, f.content, textrawl.is_valid(f.valid_from, f.valid_until, f.closed_at), a.name, p.pinned_at
    from textrawl.pinned_facts(textrawl.readable_spaces(credential, list_pins.spaces)) p
    join textrawl.local_facts() f on f.space_id = p.space_id and f.id = p.observation_id
    join textrawl.entity e on e.space_id = f.space_id and e.id = f.entity_id
    join textrawl.space s on s.id = p.space_id
    join textrawl.actor a on a.id = p.author_id
    order by s.name, p.pinned_at, f.id;
end;

comment on function textrawl.list_pins is
    'The pinned facts, the first pinned first. Errors: TR010, TR011 (access). '
    'Example: select entity_name, content, author from textrawl.list_pins();';
