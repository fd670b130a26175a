create or replace function textrawl_content.find_shards(spaces integer[])
returns table (space integer, shard bigint)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select s.space, d.shardid
    from unnest(spaces) s (space)
    join pg_dist_shard d on d.logicalrelid = 'textrawl_content.entity'::regclass
        and worker_hash(s.space) between d.shardminvalue::integer and d.shardmaxvalue::integer
    order by s.space
$$;

comment on function textrawl_content.find_shards is 'The cell of each space, named by its shard of the table entity.';
