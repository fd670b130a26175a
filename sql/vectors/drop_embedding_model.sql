create function textrawl.drop_embedding_model(name text) returns text
language plpgsql volatile
set search_path from current
set lock_timeout = '2s'
as $$
#variable_conflict use_variable
declare
    known embedding_model;
begin
    lock table embedding_model in share update exclusive mode;
    select * into known from embedding_model m where m.name = name;
    if known.id is null or known.status = 'active' then
        raise exception using errcode = case when known.id is null then 'TR046' else 'TR048' end,
            message = 'the model cannot be dropped', detail = name;
    end if;
    -- Its foreign key goes with it, which locks the facts as well: nobody is kept waiting for long. First
    -- of all, as everybody else comes from the facts to their vectors; reflections lose their model.
    lock table observation in access exclusive mode;
    lock table reflection in share row exclusive mode;
    execute format('drop table %I', 'embedding_' || known.id);
    delete from embedding_model m where m.id = known.id;
    return name;
end
$$;

comment on function textrawl.drop_embedding_model is
    'Deletes a model that is not active, with its vectors; returns its name. Errors: TR046 there is no such model, TR048 it is active.';
