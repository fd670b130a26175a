create function textrawl.is_unexpired(expires_at timestamptz) returns boolean
language sql stable parallel safe
begin atomic
    select expires_at is null or expires_at > now();
end;

comment on function textrawl.is_unexpired is
    'True if an item with this end of its time to live can still be seen. '
    'Example: select textrawl.is_unexpired(now() + interval ''1 hour'');';
