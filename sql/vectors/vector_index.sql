create function textrawl.vector_index(model integer, out name text, out valid boolean)
language sql stable
begin atomic
    -- An index exists even if its build failed. Such an index slows down writes, and searches cannot use it.
    select c.relname, i.indisvalid
    from pg_index i
    join pg_class c on c.oid = i.indexrelid
    join pg_am a on a.oid = c.relam
    where i.indrelid = textrawl.stored_table('embedding_' || model) and a.amname = 'hnsw' and i.indpred is null
    order by i.indisvalid desc, c.relname limit 1;
end;

comment on function textrawl.vector_index is
    'The vector index of a model for all spaces. The column "valid" is true if the index is completely built. Both '
    'columns are null if there is no index, and searches then compare every vector. '
    'Example: select * from textrawl.vector_index(1);';
