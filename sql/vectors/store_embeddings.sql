create function textrawl.store_embeddings(space integer, observations uuid[], model integer, embeddings halfvec[]) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    if model is not null then
        execute format($query$
            insert into %I (space_id, observation_id, vector)
            select $1, input.id, input.vector from unnest($2, $3) input (id, vector) where input.vector is not null
            on conflict do nothing$query$, 'embedding_' || model)
        using space, observations, embeddings;
    end if;
    insert into embedding_pending (space_id, observation_id, model_id)
    select space, input.id, m.id
    from unnest(observations, embeddings) input (id, vector), embedding_model m
    where m.id is distinct from case when input.vector is not null then model end
    on conflict do nothing;
end
$$;

comment on function textrawl.store_embeddings is
    'Store the vectors of new facts. Queue each fact for every model that has no vector of the fact yet.';
