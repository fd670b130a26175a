create or replace function textrawl_content.refuse_directory() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = 'TR097', message = 'only the coordinator changes the directory';
end
$$;

comment on function textrawl_content.refuse_directory is
    'Refuse new rows and deletions in the copy of the directory. Logical replication does not call it.';
