create function textrawl.owns_memory() returns boolean
language sql stable parallel safe security definer
set search_path from current
begin atomic
    select pg_has_role(session_user, nspowner, 'member') from pg_catalog.pg_namespace where nspname = 'textrawl';
end;

comment on function textrawl.owns_memory is
    'Whether this session is the owner''s of the memory, or a superuser''s. Example: select textrawl.owns_memory();';
