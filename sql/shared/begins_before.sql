create function textrawl.begins_before(start timestamptz, other timestamptz, created_at timestamptz) returns boolean
language sql stable parallel safe
begin atomic
    -- A date is stored as midnight in UTC. It does not begin before a time of the same day, even if in UTC this time
    -- is on the day before.
    select start < case
        when (start at time zone 'UTC')::time <> '00:00' then other
        else date_trunc('day', other - case when other = created_at then interval '12 hours' else '0' end, 'UTC') end;
end;

comment on function textrawl.begins_before is
    'True if a new fact begins before another fact, which was stored at created_at. A new fact that begins on the day '
    'of the other fact is not before it, unless the caller gave a time of day. '
    'Example: select textrawl.begins_before(''2021-03-01'', o.valid_from, o.created_at) from textrawl.observation o;';
