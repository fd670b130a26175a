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
        -- `is true` hides the space from other indexes, and the subqueries are not joins, so that the index of vectors is used.
        where v.model_id = %1$s and v.vector is not null and (v.space_id = $2) is true
          and (select is_unexpired(i.expires_at) and ($3 is null or matches_filter(i.fields, $3))
                   and %2$s
               from item i where i.space_id = v.space_id and i.document_id = v.document_id)
        order by v.vector::halfvec(%3$s) <=> $1::halfvec(%3$s) limit $4$sql$,
        model, has_labels(prefix), vector_dims(vector))
    using vector, space, filter, candidates;
end
$$;

comment on function textrawl.nearest_items is
    'The items below a prefix whose vectors are nearest to a vector, by the index of the model.';
