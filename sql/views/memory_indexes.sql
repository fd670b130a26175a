create view textrawl.memory_indexes with (security_invoker) as
select c.relname::text as table_name, x.relname::text as index_name, pg_relation_size(x.oid) as bytes, i.indisvalid as finished
from pg_index i
join pg_class c on c.oid = i.indrelid
join pg_class x on x.oid = i.indexrelid
where c.relnamespace = 'textrawl'::regnamespace and c.relkind = 'r';

comment on view textrawl.memory_indexes is 'Every index with its table and size.';
comment on column textrawl.memory_indexes.table_name is 'Name of the table.';
comment on column textrawl.memory_indexes.index_name is 'Name of the index.';
comment on column textrawl.memory_indexes.bytes is 'Size of the index in bytes.';
comment on column textrawl.memory_indexes.finished is
    'False if the index is being built or its build failed. Such an index slows down writes, and searches cannot use it.';
