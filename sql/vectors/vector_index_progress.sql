create function textrawl.vector_index_progress(model integer, out done bigint, out total bigint)
language sql stable
set search_path from current
begin atomic
    -- Other phases, such as waiting for transactions and validation, count other things or nothing.
    select p.blocks_done, p.blocks_total
    from pg_stat_progress_create_index p
    where p.relid = to_regclass(format('textrawl.%I', 'embedding_' || model)) and p.phase like 'building index%';
end;

comment on function textrawl.vector_index_progress is
    'Progress of building a model''s vector index, in blocks; nulls if none is being built. '
    'Example: select * from textrawl.vector_index_progress(1);';
