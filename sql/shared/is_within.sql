create function textrawl.is_within(instant timestamptz, since timestamptz, until timestamptz) returns boolean
language sql immutable parallel safe
begin atomic
    -- The function is not strict and does not set options, so that the planner can inline it.
    select (since is null or instant >= since) and (until is null or instant <= until);
end;

comment on function textrawl.is_within is
    'True if an instant lies in a period. Both ends belong to the period. If an end is null, the period has no limit '
    'there. '
    'Example: select content from textrawl.observation o where textrawl.is_within(o.said_at, ''2023-05-01'', null);';
