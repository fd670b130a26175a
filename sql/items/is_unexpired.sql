create function textrawl.is_unexpired(ends_at timestamptz) returns boolean
language sql stable parallel safe
begin atomic
    select ends_at is null or ends_at > now();
end;

comment on function textrawl.is_unexpired is
    'True if an item with this end of its time to live can still be seen. '
    'Example: select textrawl.is_unexpired(now() + interval ''1 hour'');';
