-- Load the library of pgvector. Until it is loaded, only a superuser can attach its settings to a function.
do $$ begin perform '[1]'::halfvec; end $$;

create function textrawl.nearest_items(
    model integer, vector halfvec, space integer, prefix text[], filter jsonb, candidates integer
) returns table (document_id uuid)
language plpgsql stable rows 50
set search_path from current
set hnsw.iterative_scan = relaxed_order
set hnsw.ef_search = 80
set hnsw.max_scan_tuples = 60000
as $$
begin
    if vector is null then
        return;
    end if;
    return query execute format($sql$
        select v.document_id
        from item_vector v
        join item i on i.space_id = v.space_id and i.document_id = v.document_id
        join item_namespace n on n.space_id = i.space_id and n.id = i.namespace_id
        -- `is true` hides the space from other indexes, which would read the whole space.
        where v.model_id = %1$s and v.vector is not null and (v.space_id = $2) is true and i.present and is_unexpired(i.expires_at)
          and n.labels >= $3 and n.labels < $4 and n.labels[:cardinality($3)] = $3
          and ($5 is null or matches_filter(i.fields, $5))
        order by v.vector::halfvec(%2$s) <=> $1::halfvec(%2$s) limit $6$sql$,
        model, vector_dims(vector))
    using vector, space, prefix, namespace_end(prefix), filter, candidates;
end
$$;

comment on function textrawl.nearest_items is
    'The items below a prefix whose vectors are nearest to a vector, by the index of the model.';
