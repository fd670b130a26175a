create function textrawl.was_valid(
    valid_from timestamptz, known_end timestamptz, created_at timestamptz, as_of timestamptz, known_at timestamptz
) returns boolean
language sql stable parallel safe
begin atomic
    select created_at <= known_at and textrawl.is_valid(valid_from, known_end, null, coalesce(as_of, known_at));
end;

comment on function textrawl.was_valid is
    'True if the memory knew a fact or relation at a time, and in this knowledge it was valid at as_of (null: then). '
    'Example: select textrawl.was_valid(f.valid_from, textrawl.known_end(f.space_id, f.id, null, f.valid_until, now()), '
    'f.created_at, null, now()) from textrawl.fact f;';
