create or replace function textrawl_content.mark_directory() returns bigint
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
    update textrawl_content.directory_mark set number = number + 1 returning number
$$;

comment on function textrawl_content.mark_directory is
    'Number this state of the directory. A worker that has read the number has all earlier changes of the directory.';
