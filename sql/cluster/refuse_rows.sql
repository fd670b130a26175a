create or replace function textrawl_content.refuse_rows() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if tg_argv[0] = 'content' then
        raise exception using errcode = 'TR096', message = 'this memory is distributed: content is written in cells only';
    end if;
    raise exception using errcode = 'TR097', message = 'only the coordinator changes the directory';
end
$$;

comment on function textrawl_content.refuse_rows is
    'Refuse rows in the schema textrawl: content, because it is in cells, and the directory of a worker, because it is '
    'a copy. Logical replication does not call this trigger.';
