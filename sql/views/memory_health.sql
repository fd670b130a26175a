create view textrawl.memory_health with (security_invoker) as
select c.relname::text as table_name, greatest(c.reltuples, 0)::bigint as estimated_rows, pg_table_size(c.oid) as table_bytes,
       pg_indexes_size(c.oid) as index_bytes,
       (select string_agg(i.indexrelid::regclass::text, ', ' order by 1) from pg_index i
        where i.indrelid = c.oid and not i.indisvalid) as unfinished_indexes,
       coalesce(t.n_dead_tup, 0) as dead_rows,
       round(coalesce(t.n_dead_tup, 0) / greatest(t.n_live_tup + t.n_dead_tup, 1)::numeric, 3) as dead_share,
       greatest(t.last_vacuum, t.last_autovacuum) as last_vacuum, greatest(t.last_analyze, t.last_autoanalyze) as last_analyze,
       m.name as model, m.status as model_status,
       case when m.id is not null then (select count(*) from textrawl.embedding_pending p where p.model_id = m.id) end as pending
from pg_class c
join pg_stat_user_tables t on t.relid = c.oid
left join textrawl.embedding_model m on c.relname = 'embedding_' || m.id
where c.relnamespace = 'textrawl'::regnamespace and c.relkind = 'r';

comment on view textrawl.memory_health is 'Size, dead rows and last maintenance of every table. '
    'A table of vectors also shows its model and the number of facts and relations that wait for a vector.';
comment on column textrawl.memory_health.table_name is 'Name of the table.';
comment on column textrawl.memory_health.estimated_rows is
    'Number of rows in all spaces together, as estimated by the last analyze.';
comment on column textrawl.memory_health.table_bytes is 'Size of the table in bytes, without indexes.';
comment on column textrawl.memory_health.index_bytes is
    'Size of all indexes of the table in bytes; memory_indexes lists each index.';
comment on column textrawl.memory_health.unfinished_indexes is
    'Indexes that are being built or whose build failed, separated by commas. They slow down writes, and searches '
    'cannot use them. Null: all indexes are built.';
comment on column textrawl.memory_health.dead_rows is
    'Number of rows that were replaced or deleted and that vacuum has not removed yet.';
comment on column textrawl.memory_health.dead_share is 'Share of all rows of the table that are dead rows, from 0 to 1 (bloat).';
comment on column textrawl.memory_health.last_vacuum is 'Time of the last vacuum.';
comment on column textrawl.memory_health.last_analyze is 'Time when the planner''s statistics were last collected.';
comment on column textrawl.memory_health.model is 'Model that made the vectors of the table; null for other tables.';
comment on column textrawl.memory_health.model_status is
    'Status of the model: active (searches use it), building or previous; null for other tables.';
comment on column textrawl.memory_health.pending is
    'Number of facts and relations that wait for a vector of this model, in the spaces that you can read; null for other '
    'tables.';
