create function textrawl.create_embedding_model(
    name text, dimensions integer, cosine_floor double precision, cosine_ceiling double precision,
    trust double precision, status text
) returns integer
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_variable
declare
    model integer;
begin
    -- Facts that are being stored now are not visible yet, so queue_embeddings() has to look. The foreign key below waits
    -- for the sessions that store them.
    insert into embedding_model as m (name, dimensions, cosine_floor, cosine_ceiling, trust, status, queued)
    values (name, dimensions, cosine_floor, cosine_ceiling, trust, status, false)
    returning m.id into model;
    execute format($ddl$
        create table %1$I (
            space_id integer not null,
            observation_id uuid not null,
            vector halfvec(%2$s) not null,
            primary key (space_id, observation_id),
            foreign key (space_id, observation_id) references observation on delete cascade
        )$ddl$, 'embedding_' || model, dimensions);
    -- Searches do not use a model that is being built. Its index is built after all vectors were stored.
    if status <> 'building' then
        execute vector_index_definition(model, false);
    end if;
    execute format('comment on table %I is %L', 'embedding_' || model,
                   'Vectors of ' || name || ', one for each fact. A separate table keeps full-text search fast.');
    execute format('comment on column %I.space_id is %L', 'embedding_' || model, 'Space of the fact.');
    execute format('comment on column %I.observation_id is %L', 'embedding_' || model, 'The fact.');
    execute format('comment on column %I.vector is %L', 'embedding_' || model, 'Vector of the fact in half precision.');
    execute format($ddl$
        create index %1$I on item_vector using hnsw ((vector::halfvec(%2$s)) halfvec_cosine_ops)
        with (m = 16, ef_construction = 128) where model_id = %3$s$ddl$, 'item_vector_' || model || '_idx', dimensions, model);
    perform protect_tables();
    perform unite_embeddings();
    return model;
end
$$;

comment on function textrawl.create_embedding_model is
    'Create a model and its table of vectors, and return the id of the model. queue_embeddings() queues the existing '
    'facts later, because writers would have to wait if this function queued the facts.';
