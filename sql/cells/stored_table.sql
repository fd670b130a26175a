create or replace function textrawl.stored_table(name text) returns regclass
language plpgsql stable parallel safe
set search_path from current
as $$
begin
    -- The name of the schema ends with the number of the shard of the table entity.
    return (
        select to_regclass(format('textrawl_content.%I', name || '_' || s.shardid))
        from pg_dist_shard e
        join pg_dist_shard s on s.shardminvalue = e.shardminvalue
        join pg_class c on c.oid = s.logicalrelid
        where e.shardid = substring('textrawl.' from '\d+')::bigint
          and c.relnamespace = to_regnamespace('textrawl_content') and c.relname = stored_table.name);
end
$$;

comment on function textrawl.stored_table is
    'The shard that has the rows of a table of this cell; null if there is no such table.';
