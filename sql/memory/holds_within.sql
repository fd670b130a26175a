create function textrawl.holds_within(valid_from timestamptz, valid_until timestamptz, period tstzrange) returns boolean
language sql immutable parallel safe
begin atomic
    -- The function is not strict and does not set options, so that the planner can inline it. Leave out a
    -- fact that began before the period and has no end, because nobody knows whether it still held in the period.
    select valid_from <@ period or valid_from < upper(period) and lower(period) < valid_until;
end;

comment on function textrawl.holds_within is
    'True if a fact began in a period, or was valid in it and has an end. '
    'Example: select content from textrawl.observation o where textrawl.holds_within(o.valid_from, o.valid_until, ''[2022-01-01,2023-01-01)'');';
