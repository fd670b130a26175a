create function textrawl.claim_edges(relations jsonb, origin textrawl.origin)
returns table (
    place bigint,             -- position in relations, from 1
    label text, key text,     -- the relation as it was sent, and its relation_key()
    source uuid, target uuid,
    missing text[]            -- names of entities that do not exist
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    -- Lock and join in one statement. An entity that is created meanwhile is not locked, so it counts as missing.
    return query
        with claimed as materialized (
            select e.id, e.name_key from entity e
            where e.space_id = origin.space_id and e.name_key in (
                select entity_key(origin.space_id, unnest(array[value ->> 'from', value ->> 'to'])) from jsonb_array_elements(relations))
            order by e.name_key for no key update
        )
        select triple.ordinality, triple.value ->> 'relation', relation_key(triple.value ->> 'relation'), source.id, target.id,
            array_remove(array[case when source.id is null then triple.value ->> 'from' end,
                               case when target.id is null then triple.value ->> 'to' end], null)
        from jsonb_array_elements(relations) with ordinality triple
        left join claimed source on source.name_key = entity_key(origin.space_id, triple.value ->> 'from')
        left join claimed target on target.name_key = entity_key(origin.space_id, triple.value ->> 'to')
        order by triple.ordinality;
end
$$;

comment on function textrawl.claim_edges is
    'Look up both entities of each relation [{from, relation, to}], and lock these entities until the transaction '
    'ends.';
