create function textrawl.missing_vector_indexes(building boolean default false, space integer default null)
returns table (
    model_id integer,
    name text,         -- name of the model; for the own index of a space: model in space
    statements text[]  -- run each statement outside of a transaction
)
language sql stable
begin atomic
    select m.id, m.name,
        case when i.name is null then '{}' else array[format('drop index concurrently textrawl.%I', i.name)] end
            || textrawl.vector_index_definition(m.id, true)
    from textrawl.embedding_model m left join lateral textrawl.vector_index(m.id) i on true
    where i.valid is not true and (m.status <> 'building' or building)
    union all
    -- If a space has its own index for one model, build such an index for every model. Rebuild an unfinished index in
    -- place. If the index were dropped and the new build failed, nothing would record that the space wants its own index. See
    -- own_indexes().
    select m.id, m.name || ' in ' || s.name, leftovers.drops || case
        when i.name is null then array[textrawl.vector_index_definition(m.id, true, s.id)]
        when not i.valid then array[format('reindex index concurrently textrawl.%I', i.name)]
        else '{}' end
    from textrawl.embedding_model m
    join textrawl.space s on s.id = missing_vector_indexes.space or s.id in (select o.space_id from textrawl.own_indexes() o)
    left join textrawl.own_indexes() i on i.model_id = m.id and i.space_id = s.id
    cross join lateral (
        select coalesce(array_agg(d.statement), '{}') as drops
        from textrawl.own_index_drops(s.id, m.id) d where d.leftover) leftovers
    where (i.valid is not true or leftovers.drops <> '{}') and (m.status <> 'building' or building)
    order by 1, 2;
end;

comment on function textrawl.missing_vector_indexes is
    'Models without a completely built vector index, each with the statements that build the index. An index can cover '
    'all spaces or be the own index of one space. If "building" is true, models that are being built are included. '
    'Example: select * from textrawl.missing_vector_indexes();';
