create function textrawl.memory_statistics(spaces integer[] default null, credential bytea default null)
returns table (
    entities bigint, facts bigint, valid_facts bigint, relations bigint,
    events bigint,  -- entries of the trail, except those about proposals
    bytes bigint,   -- size of the whole database
    types jsonb,    -- number of entities of each type, {type: count}
    models jsonb    -- [{name, dimensions, pending}]; pending: the number of facts and relations that still need a vector
)
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, memory_statistics.spaces) as ids
    ), fact_count as materialized (
        select count(*) as facts, count(*) filter (where textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)) as valid_facts
        from textrawl.fact o
        -- The index observation_growth_idx needs the last condition.
        where o.space_id = any((select ids from scope)::integer[]) and o.created_at >= '-infinity'
    )
    select (select count(*) from textrawl.entity e where e.space_id = any((select ids from scope)::integer[])),
           (select c.facts from fact_count c), (select c.valid_facts from fact_count c),
           (select count(*) from textrawl.relation r where r.space_id = any((select ids from scope)::integer[])
            and textrawl.is_valid(r.valid_from, r.valid_until, r.closed_at)),
           -- Each of the two counts reads only an index.
           (select count(*) from textrawl.event v where v.space_id = any((select ids from scope)::integer[]))
           - (select count(*) from textrawl.event v where v.space_id = any((select ids from scope)::integer[])
              and v.detail ? 'proposal' and v.action <> 'accepted'),
           pg_database_size(current_database()),
           (select coalesce(jsonb_object_agg(entity_type, n), '{}') from (
                select entity_type, count(*) n from textrawl.entity e where e.space_id = any((select ids from scope)::integer[])
                group by entity_type) t),
           (select coalesce(jsonb_agg(jsonb_build_object('name', m.name, 'dimensions', m.dimensions, 'pending',
                (select count(*) from textrawl.embedding_pending p
                 where p.model_id = m.id and p.space_id = any((select ids from scope)::integer[]))) order by m.id), '[]')
            from textrawl.embedding_model m)
    from scope;  -- so that a caller who reads nothing is refused, even where each table is empty
end;

comment on function textrawl.memory_statistics is
    'The size of a memory: entities, facts, relations, bytes, entities of each type, and pending vectors of each '
    'model. '
    'Example: select * from textrawl.memory_statistics();';
