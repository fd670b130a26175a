create function textrawl.is_repetition(
    valid_from timestamptz, created_at timestamptz, other_from timestamptz, other_created timestamptz
) returns boolean
language sql immutable parallel safe
begin atomic
    -- A fact whose begin equals created_at was stored without a time.
    select textrawl.same_day(valid_from, other_from)
        or case when created_at > other_created then valid_from = created_at else other_from = other_created end;
end;

comment on function textrawl.is_repetition is
    'True if one of two facts with the same text repeats the other: both begin on the same day, or the fact that was '
    'stored later has no given begin. Otherwise the same happened twice. '
    'Example: select textrawl.is_repetition(now(), now(), ''2024-04-01'', now() - interval ''1 day'');';
