create function textrawl.period_begin(
    valid_from timestamptz, said_at timestamptz, valid_until timestamptz, moment timestamptz
) returns timestamptz
language sql immutable parallel safe
begin atomic
    -- In some time zones a day begins 14 hours earlier than in UTC, so said_at can be in the future. If only a past
    -- end is given, the fact was valid at least on its last day.
    select case when valid_from is not null or start < coalesce(valid_until, 'infinity') then start
                else date_trunc('day', valid_until - interval '1 microsecond', 'UTC') end
    from (select coalesce(period_begin.valid_from, least(said_at, moment)) as start) given;
end;

comment on function textrawl.period_begin is
    'The begin of a new fact that is stored at a moment: the given begin, or else the time when it was said, or else '
    'the moment. '
    'Example: select textrawl.period_begin(null, ''2021-03-01'', null, now());';
