create function textrawl.write_state() returns text
language sql stable security definer
set search_path from current
begin atomic
    -- All transactions that have ended are the same in two equal snapshots, so all rows that can be seen are equal too.
    select pg_current_snapshot()::text;
end;

comment on function textrawl.write_state is
    'A text that is equal in two calls only if no transaction has written anything between them. A server keeps the numbers '
    'of its dashboard as long as this text is equal. '
    'Example: select textrawl.write_state();';
