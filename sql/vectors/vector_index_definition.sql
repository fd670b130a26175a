create function textrawl.vector_index_definition(model integer, online boolean, space integer default null) returns text
language sql immutable parallel safe
begin atomic
    select format(
        'create index %s %I on textrawl.%I using hnsw (vector halfvec_cosine_ops) with (m = 16, ef_construction = 128)',
        case when online then 'concurrently' else '' end,
        coalesce(textrawl.own_index_name(model, space), 'embedding_' || model || '_vector_idx'), 'embedding_' || model)
        || coalesce(' where space_id = ' || space, '');
end;

comment on function textrawl.vector_index_definition is
    'The statement that creates the vector index of a model, for all spaces or for one space. If "online" is true, '
    'other sessions can write during the build. '
    'Example: select textrawl.vector_index_definition(1, true);';
