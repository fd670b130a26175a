create function textrawl.own_indexes() returns table (
    model_id integer, space_id integer, name text,
    valid boolean  -- false if the build of the index was killed
)
language sql stable
begin atomic
    -- Only the existence of an index records that a space has its own index.
    select m.id, s.id, c.relname::text, i.indisvalid
    from textrawl.embedding_model m
    join pg_index i on i.indrelid = textrawl.stored_table('embedding_' || m.id) and i.indpred is not null
    join pg_class c on c.oid = i.indexrelid
    join textrawl.space s on c.relname = textrawl.own_index_name(m.id, s.id)
    order by m.id, s.id;
end;

comment on function textrawl.own_indexes is
    'Spaces with their own vector index, for each model. '
    'Example: select * from textrawl.own_indexes();';
