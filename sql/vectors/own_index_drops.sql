create function textrawl.own_index_drops(space integer, model integer default null) returns table (
    statement text,   -- run each statement outside of a transaction
    leftover boolean  -- true for the remains of a rebuild that was killed
)
language sql stable
set search_path from current
begin atomic
    select format('drop index concurrently if exists textrawl.%I', c.relname), c.relname !~ '_idx$'
    from textrawl.embedding_model m
    join pg_index i on i.indrelid = to_regclass(format('textrawl.%I', 'embedding_' || m.id))
    join pg_class c on c.oid = i.indexrelid
    where (model is null or m.id = model)
      and c.relname ~ ('^' || textrawl.own_index_name(m.id, space) || '(_cc(new|old)[0-9]*)?$')
    order by c.relname;
end;

comment on function textrawl.own_index_drops is
    'The statements that drop the own vector index of a space, for one model or for all models. '
    'Example: select * from textrawl.own_index_drops(1);';
