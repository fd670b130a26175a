create function textrawl.store_embedding(space integer, observation uuid, model integer, embedding halfvec) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    if model is not null and embedding is not null then
        execute format('insert into %I (space_id, observation_id, vector) values ($1, $2, $3) on conflict do nothing', 'embedding_' || model)
        using space, observation, embedding;
    end if;
    insert into embedding_pending (space_id, observation_id, model_id)
    select space, observation, m.id from embedding_model m
    where m.id is distinct from case when embedding is not null then model end
    on conflict do nothing;
end
$$;

comment on function textrawl.store_embedding is
    'Stores the vector of a new fact, and a pending row for every model that has none for it yet.';
