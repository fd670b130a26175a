create function textrawl.past_end(valid_until timestamptz) returns timestamptz
language sql volatile parallel safe
begin atomic
    select case when past_end.valid_until <= clock_timestamp() then past_end.valid_until end;
end;

comment on function textrawl.past_end is
    'The given end if it is not in the future, otherwise null. Functions that write an end given by their caller set '
    'closed_at to this value. Example: select textrawl.past_end(now());';
