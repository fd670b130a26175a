create function textrawl.is_valid(
    valid_from timestamptz, valid_until timestamptz,
    as_of timestamptz default null, present timestamptz default statement_timestamp()
) returns boolean
language sql stable parallel safe
begin atomic
    -- Neither strict nor with settings, so that the planner can inline it.
    -- Functions that write pass clock_timestamp() as present, to see what they have just ended themselves.
    -- Without as_of, ignore valid_from: if the clock was set back, stored facts must not disappear.
    select (valid_until is null or valid_until > coalesce(as_of, present)) and (as_of is null or valid_from <= as_of);
end;

comment on function textrawl.is_valid is
    'True if a fact or relation is valid. With as_of: it had begun by then and had not ended. Without: it has not ended yet. '
    'Example: select content from textrawl.observation o where textrawl.is_valid(o.valid_from, o.valid_until);';
