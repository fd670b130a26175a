create function textrawl.own_indexes() returns table (model_id integer, space_id integer, name text, valid boolean)
language sql stable
set search_path from current
begin atomic
    -- Their being there is the wish for them: nothing else says which spaces have one.
    select m.id, s.id, c.relname::text, i.indisvalid
    from textrawl.embedding_model m
    join pg_index i on i.indrelid = to_regclass(format('textrawl.%I', 'embedding_' || m.id)) and i.indpred is not null
    join pg_class c on c.oid = i.indexrelid
    join textrawl.space s on c.relname = textrawl.own_index_name(m.id, s.id)
    order by m.id, s.id;
end;

comment on function textrawl.own_indexes is
    'Spaces that have an index of vectors of their own, by model, and whether it answers; a build that was killed leaves one that does not. Example: select * from textrawl.own_indexes();';
