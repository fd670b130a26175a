create function textrawl.trail_end() returns text
language sql volatile security definer
set search_path from current
begin atomic
    select pg_snapshot_xmin(pg_current_snapshot()) || ':0';
end;

comment on function textrawl.trail_end is
    'The cursor after which read_events() returns new events and those it still holds back. '
    'Example: select textrawl.trail_end();';
