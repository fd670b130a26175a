create function textrawl.is_valid(
    valid_from timestamptz, valid_until timestamptz, closed_at timestamptz,
    as_of timestamptz default null, present timestamptz default statement_timestamp()
) returns boolean
language sql stable parallel safe
begin atomic
    -- The function is not strict and does not set options, so that the planner can inline it. Functions that write pass
    -- clock_timestamp() as `present`, so that a fact that they have just ended counts as ended. Without `as_of`, the
    -- clock decides only about an end that was still to come when it was set. Otherwise a clock that was set back would
    -- hide facts that were stored, and show facts that were ended. A fact that was never valid ends at its valid_from.
    -- The time infinity asks for all facts that were valid at any time.
    select (valid_until is null
            or valid_until > coalesce(as_of, present)
                and (as_of is not null
                     or valid_until is distinct from closed_at and valid_until is distinct from valid_from)
            or as_of is not null and as_of = 'infinity' and valid_until > valid_from)
        and (as_of is null or valid_from <= as_of);
end;

comment on function textrawl.is_valid is
    'True if a fact or relation is valid. If as_of is given: true if the fact or relation had begun at that time and '
    'had not ended; with infinity, true if it is valid at any time. Otherwise: true if nobody has ended it, and an end '
    'that was named for later has not come yet. '
    'Example: select content from textrawl.observation o where textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at);';
