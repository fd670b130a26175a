create function textrawl.missing_vector_indexes(building boolean default false)
returns table (model_id integer, name text, statements text[])
language sql stable
set search_path from current
begin atomic
    select m.id, m.name,
        case when i.name is null then '{}' else array[format('drop index concurrently textrawl.%I', i.name)] end
            || textrawl.vector_index_definition(m.id, true)
    from textrawl.embedding_model m left join lateral textrawl.vector_index(m.id) i on true
    where i.valid is not true and (m.status <> 'building' or building)
    order by m.id;
end;

comment on function textrawl.missing_vector_indexes is
    'Models whose vectors have no index that answers, with the statements that make it, each outside of a transaction; a model that is being built needs none until it is full. Example: select * from textrawl.missing_vector_indexes();';
