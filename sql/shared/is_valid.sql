create function textrawl.is_valid(
    valid_from timestamptz, valid_until timestamptz,
    as_of timestamptz default null, present timestamptz default statement_timestamp()
) returns boolean
language sql stable parallel safe
begin atomic
    -- Not strict and without settings, or the planner could not put the expression in place of the call.
    -- Now, what was stored is valid whatever its date: a clock that went back must hide nothing.
    select (valid_until is null or valid_until > coalesce(as_of, present)) and (as_of is null or valid_from <= as_of);
end;

comment on function textrawl.is_valid is
    'Whether a fact or relation is valid: now, unless it has ended; as of a moment, if it had begun by then and not ended. Example: select content from textrawl.observation o where textrawl.is_valid(o.valid_from, o.valid_until);';
