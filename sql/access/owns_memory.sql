create function textrawl.owns_memory() returns boolean
language sql stable parallel safe security definer
set search_path from current
begin atomic
    select pg_has_role(session_user, nspowner, 'member') from pg_catalog.pg_namespace where nspname = 'textrawl';
end;

comment on function textrawl.owns_memory is
    'True if this session belongs to the owner of the memory or to a superuser. '
    'Example: select textrawl.owns_memory();';
