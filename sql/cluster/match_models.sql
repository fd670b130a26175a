create or replace function textrawl_content.match_models() returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
set citus.enable_ddl_propagation = off
set citus.override_table_visibility = off
set citus.enable_manual_changes_to_shards = on
as $$
declare
    vector record;
    cell   text;
begin
    -- Two servers can start at the same time.
    lock table textrawl_content.directory_mark in share row exclusive mode;
    for vector in
        select format('textrawl_cell_%s', e.shardid) as cell, c.relname as name,
            format('textrawl_content.%I', c.relname || '_' || v.shardid) as shard,
            right(c.relname, -10)::integer as model
        from pg_dist_shard e
        join pg_dist_placement p on p.shardid = e.shardid
        join pg_dist_local_group g on g.groupid = p.groupid
        join pg_dist_shard v on v.shardminvalue = e.shardminvalue
        join pg_class c on c.oid = v.logicalrelid and c.relname ~ '^embedding_\d+$'
        where e.logicalrelid = 'textrawl_content.entity'::regclass
          and c.relnamespace = 'textrawl_content'::regnamespace
        order by c.relname, e.shardid
    loop
        cell := vector.cell;
        continue when to_regclass(format('%I.%I', cell, vector.name)) is not null or to_regnamespace(cell) is null;
        execute format(
            'create view %I.%I with (security_invoker = true) as select space_id, observation_id, vector from %s',
            cell, vector.name, vector.shard);
        execute format('alter table %s enable row level security', vector.shard);
        execute format('alter table %s force row level security', vector.shard);
        execute format('drop policy if exists owner on %s', vector.shard);
        execute format('create policy owner on %s to %I using (true) with check (true)', vector.shard, current_user);
        execute format('drop policy if exists readers on %s', vector.shard);
        execute format(
            'create policy readers on %s for select using (space_id = any((select %I.session_spaces())::integer[]))',
            vector.shard, cell);
        -- Facts that are older than the model are queued by queue_embeddings().
        execute format(
            'insert into %1$I.model_queue (model, queued) select %2$s, '
            'not exists (select from %1$I.observation) and not exists (select from %1$I.item) '
            'on conflict do nothing', cell, vector.model);
    end loop;
    for cell in select nspname from pg_namespace where nspname like 'textrawl\_cell\_%' order by nspname loop
        execute format('select %I.unite_embeddings()', cell);
        -- The keys of an ordinary memory do this, but Citus has no keys between nodes.
        execute format(
            'delete from %1$I.embedding_pending p where not exists (select from textrawl.embedding_model m where m.id = p.model_id)', cell);
        execute format(
            'delete from %1$I.item_vector v where not exists (select from textrawl.embedding_model m where m.id = v.model_id)', cell);
        execute format(
            'update %1$I.reflection r set model_id = null, vector = null where model_id is not null '
            'and not exists (select from textrawl.embedding_model m where m.id = r.model_id)', cell);
        execute format(
            'update %1$I.proposal p set model_id = null where model_id is not null '
            'and not exists (select from textrawl.embedding_model m where m.id = p.model_id)', cell);
    end loop;
end
$$;

comment on function textrawl_content.match_models is
    'Give the cells of this node the tables of vectors that they do not have yet, and forget models that were dropped.';
