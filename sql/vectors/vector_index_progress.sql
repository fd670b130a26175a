create function textrawl.vector_index_progress(model integer, out done bigint, out total bigint)
language sql stable
begin atomic
    -- In other phases, such as validation, the numbers do not count blocks of the table.
    select p.blocks_done, p.blocks_total
    from pg_stat_progress_create_index p
    where p.relid = textrawl.stored_table('embedding_' || model) and p.phase like 'building index%';
end;

comment on function textrawl.vector_index_progress is
    'The progress of building the vector index of a model, in blocks. Null if no index is being built. '
    'Example: select * from textrawl.vector_index_progress(1);';
