create or replace function textrawl_content.distribute_model(model integer) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    name text := 'embedding_' || model;
begin
    -- Two servers can register the same model at the same time.
    lock table textrawl_content.directory_mark in share row exclusive mode;
    if to_regclass(format('textrawl.%I', name)) is null then
        execute format('drop table if exists textrawl_content.%I', name);  -- the model was dropped
        return;
    elsif to_regclass(format('textrawl_content.%I', name)) is not null then
        return;
    end if;
    execute format('create table textrawl_content.%1$I (like textrawl.%1$I including all)', name);
    execute format('alter table textrawl_content.%I owner to %s', name, (
        select nspowner::regrole from pg_namespace where nspname = 'textrawl'));
    perform create_distributed_table(
        format('textrawl_content.%I', name), 'space_id', colocate_with => 'textrawl_content.entity');
    execute format(
        'alter table textrawl_content.%I add foreign key (space_id, observation_id) '
        'references textrawl_content.observation on delete cascade', name);
end
$$;

comment on function textrawl_content.distribute_model is
    'Distribute the table of vectors of a model, or drop it if the model was dropped. It runs on the coordinator. '
    'Afterwards match_models() runs on each worker.';
