create function textrawl.vector_index_progress(model integer, out done bigint, out total bigint)
language sql stable
set search_path from current
begin atomic
    -- Waiting for others and checking what they wrote meanwhile count other things, or nothing.
    select p.blocks_done, p.blocks_total
    from pg_stat_progress_create_index p
    where p.relid = to_regclass(format('textrawl.%I', 'embedding_' || model)) and p.phase like 'building index%';
end;

comment on function textrawl.vector_index_progress is
    'Blocks of a model''s vectors that are in the index that is being built, and of all; nulls where none is. Example: select * from textrawl.vector_index_progress(1);';
