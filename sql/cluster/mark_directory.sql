create or replace function textrawl_content.mark_directory() returns bigint
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
    update textrawl_content.directory_mark set number = number + 1
    -- A worker copies the number. One of its own would say that it has changes that it does not have yet.
    where (select g.groupid from pg_dist_local_group g) = 0
    returning number
$$;

comment on function textrawl_content.mark_directory is
    'Number this state of the directory. A worker that has read the number has all earlier changes of the directory. '
    'Null: this node is a worker, and nothing was numbered.';
