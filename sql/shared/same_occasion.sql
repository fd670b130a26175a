create function textrawl.same_occasion(given timestamptz, stored timestamptz, created_at timestamptz) returns boolean
language sql stable parallel safe
begin atomic
    -- Somewhere a day begins 14 hours earlier than in UTC, and elsewhere 12 hours later. So a fact that was stored
    -- without a time can be of the day before or after.
    select given is null or case when stored = created_at
        then (given at time zone 'UTC')::date between ((stored - interval '12 hours') at time zone 'UTC')::date
            and ((stored + interval '14 hours') at time zone 'UTC')::date
        else textrawl.same_day(given, stored) end;
end;

comment on function textrawl.same_occasion is
    'True if the time that a caller gave for a text is on the day of a stored fact, or if the caller gave no time. If '
    'the stored time equals created_at, nobody gave it. '
    'Example: select textrawl.same_occasion(''2026-04-01'', o.said_at, o.created_at) from textrawl.observation o;';
