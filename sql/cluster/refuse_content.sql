create or replace function textrawl_content.refuse_content() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception using errcode = 'TR096', message = 'this memory is distributed: content is written in cells only';
end
$$;

comment on function textrawl_content.refuse_content is
    'Refuse rows in the content tables of the schema textrawl, because the content of a distributed memory is in cells.';
