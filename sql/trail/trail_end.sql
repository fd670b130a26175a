create function textrawl.trail_end(space integer default null, credential bytea default null) returns text
language sql volatile security definer
set search_path from current
begin atomic
    select textrawl.administered_spaces(credential, trail_end.space);
    select pg_snapshot_xmin(pg_current_snapshot()) || ':0';
end;

comment on function textrawl.trail_end is
    'The cursor of the present end of the trail. From this cursor, read_events() returns the events of all '
    'transactions that have not ended yet or start later. Errors: TR010, TR011 (access). '
    'Example: select textrawl.trail_end();';
