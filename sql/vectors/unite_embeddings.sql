create function textrawl.unite_embeddings() returns void
language plpgsql volatile
set search_path from current
as $$
begin
    -- The cast takes the number of dimensions away, so that vectors of all models fit into one column.
    execute 'create or replace view embedding with (security_invoker) as ' || coalesce((
        select string_agg(format('select %s as model_id, space_id, observation_id, vector::halfvec as vector from %I', m.id, 'embedding_' || m.id),
            ' union all ' order by m.id)
        from embedding_model m where to_regclass('embedding_' || m.id) is not null),
        'select null::integer as model_id, null::integer as space_id, null::uuid as observation_id, null::halfvec as vector where false');
    comment on view embedding is
        'The vectors of all models, so that a statement is planned once and not for each model. A search for the nearest vectors of '
        'one model uses the index of its table. '
        'Example: select count(*) from textrawl.embedding where model_id = 1;';
    comment on column embedding.model_id is 'Model that made the vector.';
    comment on column embedding.space_id is 'Space of the fact.';
    comment on column embedding.observation_id is 'The fact.';
    comment on column embedding.vector is 'Vector of the fact in half precision.';
end
$$;

comment on function textrawl.unite_embeddings is
    'Make the view `embedding` of the tables of all models. Call it when a model was created, or before its table is dropped.';
