create function textrawl.drop_embedding_model(name text) returns text
language plpgsql volatile
set search_path from current
set lock_timeout = '2s'
as $$
#variable_conflict use_variable
declare
    model_row embedding_model;
begin
    lock table embedding_model in share update exclusive mode;
    select * into model_row from embedding_model m where m.name = name;
    if model_row.id is null or model_row.status = 'active' then
        raise exception using errcode = case when model_row.id is null then 'TR046' else 'TR048' end,
            message = 'the model cannot be dropped', detail = name;
    end if;
    -- Dropping the table also drops its foreign key, which locks the facts. The lock timeout prevents other sessions
    -- from waiting long. Lock the facts first, because all writers lock facts before vectors. Lock the reflections too,
    -- because the deletion of the model changes them.
    lock table observation in access exclusive mode;
    lock table reflection in share row exclusive mode;
    delete from embedding_model m where m.id = model_row.id;
    perform unite_embeddings();
    execute format('drop table %I', 'embedding_' || model_row.id);
    execute format('drop index if exists %I', 'item_vector_' || model_row.id || '_idx');
    return name;
end
$$;

comment on function textrawl.drop_embedding_model is
    'Delete a model that is not active, together with its vectors, and return its name. Errors: TR046 (no such '
    'model), TR048 (the model is active).';
