create function textrawl.same_day(one timestamptz, other timestamptz) returns boolean
language sql immutable parallel safe
begin atomic
    select (one at time zone 'UTC')::date = (other at time zone 'UTC')::date;
end;

comment on function textrawl.same_day is
    'True if two instants are on the same day in UTC. Facts with the same text that begin on different days are '
    'different facts. '
    'Example: select textrawl.same_day(now(), ''2026-12-31'');';
