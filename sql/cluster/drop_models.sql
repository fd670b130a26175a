create or replace function textrawl_content.drop_models() returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    model  integer;
    failed text;
begin
    lock table textrawl_content.directory_mark in share row exclusive mode;
    for model in
        select right(c.relname, -10)::integer from pg_class c
        where c.relnamespace = 'textrawl_content'::regnamespace and c.relname ~ '^embedding_\d+$' and c.relkind = 'r'
          and not exists (select from textrawl.embedding_model m where m.id = right(c.relname, -10)::integer)
        order by 1
    loop
        select r.result into failed
        from run_command_on_workers(format('select textrawl_content.detach_vectors(%s)', model)) r where not r.success limit 1;
        if found then
            raise exception using errcode = '55P03', message = 'a worker keeps its vectors: ' || failed;
        end if;
        execute format('drop table textrawl_content.embedding_%s', model);
    end loop;
end
$$;

comment on function textrawl_content.drop_models is
    'Drop the vectors of models that were dropped, on all nodes. It runs on the coordinator. Error 55P03: somebody reads '
    'or writes facts for too long; nothing is lost, and the next call goes on.';
