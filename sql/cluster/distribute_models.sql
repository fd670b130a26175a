create or replace function textrawl_content.distribute_models() returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    model integer;
    name  text;
begin
    -- Two servers can register the same model at the same time.
    lock table textrawl_content.directory_mark in share row exclusive mode;
    for model in select m.id from textrawl.embedding_model m order by m.id loop
        name := 'embedding_' || model;
        continue when to_regclass(format('textrawl_content.%I', name)) is not null;
        execute format('create table textrawl_content.%1$I (like textrawl.%1$I including all)', name);
        execute format('alter table textrawl_content.%I owner to %s', name, (
            select nspowner::regrole from pg_namespace where nspname = 'textrawl'));
        -- An ordinary memory builds the index of a second model after its vectors. Here it is there from the beginning,
        -- because Citus makes it again when it moves a cell. The text is that of vector_index_definition(), which cannot
        -- be called: it belongs to the owner, who must not become a superuser.
        if not exists (
            select from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
            where i.indrelid = to_regclass(format('textrawl_content.%I', name)) and a.amname = 'hnsw') then
            execute format(
                'create index %1$I on textrawl_content.%2$I using hnsw (vector %3$s.halfvec_cosine_ops) with (m = 16, ef_construction = 128)',
                name || '_vector_idx', name,
                (select e.extnamespace::regnamespace from pg_extension e where e.extname = 'vector'));
        end if;
        perform create_distributed_table(
            format('textrawl_content.%I', name), 'space_id', colocate_with => 'textrawl_content.entity');
        execute format(
            'alter table textrawl_content.%I add foreign key (space_id, observation_id) '
            'references textrawl_content.observation on delete cascade', name);
        -- The shards belong to the owner of the memory, but Citus logs in as the owner of this table to move them.
        perform set_config('citus.enable_ddl_propagation', 'off', true);
        execute format('alter table textrawl_content.%I owner to %I', name, current_user);
        perform set_config('citus.enable_ddl_propagation', 'on', true);
    end loop;
end
$$;

comment on function textrawl_content.distribute_models is
    'Distribute the tables of vectors of models that are new. It runs on the coordinator. Afterwards match_models() runs '
    'on each worker.';
