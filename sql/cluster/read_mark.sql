create or replace function textrawl_content.read_mark() returns bigint
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select number from textrawl_content.directory_mark
$$;

comment on function textrawl_content.read_mark is
    'The number of the newest state of the directory that this node has. mark_directory() counts on the coordinator.';
