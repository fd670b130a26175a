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
    -- Dropping the table drops its foreign key, which locks the facts: the lock timeout keeps others from waiting long.
    -- Lock the facts first, in the order of all writers, from facts to vectors. Reflections lose their model.
    lock table observation in access exclusive mode;
    lock table reflection in share row exclusive mode;
    execute format('drop table %I', 'embedding_' || model_row.id);
    delete from embedding_model m where m.id = model_row.id;
    return name;
end
$$;

comment on function textrawl.drop_embedding_model is
    'Delete a model that is not active with its vectors, and return its name. Errors: TR046 there is no such model, TR048 '
    'it is active.';
