create or replace function textrawl_content.detach_vectors(model integer) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
set lock_timeout = '2s'
set citus.enable_ddl_propagation = off
set citus.override_table_visibility = off
set citus.enable_manual_changes_to_shards = on
as $$
declare
    shard record;
    key   name;
begin
    for shard in
        select e.shardid as cell, format('textrawl_content.observation_%s', o.shardid) as facts,
            format('textrawl_content.embedding_%s_%s', model, v.shardid) as vectors
        from pg_dist_shard v
        join pg_dist_shard o on o.shardminvalue = v.shardminvalue and o.logicalrelid = 'textrawl_content.observation'::regclass
        join pg_dist_shard e on e.shardminvalue = v.shardminvalue and e.logicalrelid = 'textrawl_content.entity'::regclass
        where v.logicalrelid = to_regclass(format('textrawl_content.embedding_%s', model))
        order by e.shardid
    loop
        continue when to_regclass(shard.vectors) is null;  -- on another node
        -- All writers lock facts before vectors. Citus would lock the vectors first.
        execute format('lock table %s in access exclusive mode', shard.facts);
        -- The view `embedding` reads this one, so first it is made of the others. Made anew, it would belong to a superuser.
        execute format('select textrawl_cell_%s.unite_embeddings()', shard.cell);
        execute format('drop view if exists textrawl_cell_%s.embedding_%s', shard.cell, model);
        for key in select k.conname from pg_constraint k where k.conrelid = to_regclass(shard.vectors) and k.contype = 'f' loop
            execute format('alter table %s drop constraint %I', shard.vectors, key);
        end loop;
    end loop;
end
$$;

comment on function textrawl_content.detach_vectors is
    'Take the vectors of a model from the cells of this node, before their table is dropped. Readers and writers of '
    'facts wait for it for two seconds at most.';
