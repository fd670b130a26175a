create function textrawl.missing_vector_indexes(building boolean default false, space integer default null)
returns table (
    model_id integer,
    name text,         -- name of the model, or `model in space`
    statements text[]  -- run each outside of a transaction
)
language sql stable
set search_path from current
begin atomic
    select m.id, m.name,
        case when i.name is null then '{}' else array[format('drop index concurrently textrawl.%I', i.name)] end
            || textrawl.vector_index_definition(m.id, true)
    from textrawl.embedding_model m left join lateral textrawl.vector_index(m.id) i on true
    where i.valid is not true and (m.status <> 'building' or building)
    union all
    -- An own index in one model means that the space needs one in every model, so rebuild it in place: never drop it.
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
    'Models without a completely built index of their vectors, with the statements that build it: for all spaces together, '
    'and for spaces with an index of their own. Models being built are included on request. '
    'Example: select * from textrawl.missing_vector_indexes();';
