create function textrawl.claim_edges(relations jsonb, origin textrawl.origin)
returns table (place bigint, label text, key text, source uuid, target uuid, missing text[])
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    -- In one statement: who is made meanwhile is not claimed, and missing.
    return query
        with claimed as materialized (
            select e.id, e.name_key from entity e
            where e.space_id = origin.space_id and e.name_key in (
                select name_key(unnest(array[value ->> 'from', value ->> 'to'])) from jsonb_array_elements(relations))
            order by e.name_key for no key update
        )
        select given.ordinality, given.value ->> 'relation', relation_key(given.value ->> 'relation'), source.id, target.id,
            array_remove(array[case when source.id is null then given.value ->> 'from' end,
                               case when target.id is null then given.value ->> 'to' end], null)
        from jsonb_array_elements(relations) with ordinality given
        left join claimed source on source.name_key = name_key(given.value ->> 'from')
        left join claimed target on target.name_key = name_key(given.value ->> 'to')
        order by given.ordinality;
end
$$;

comment on function textrawl.claim_edges is
    'The ends of relations [{from, relation, to}] by place, with the names that are not there; keeps other writers of these entities waiting until the transaction ends.';
