create function textrawl.drop_unused_model(name text) returns boolean
language plpgsql volatile
set search_path from current
set lock_timeout = '2s'
as $$
#variable_conflict use_variable
declare
    model  integer;
    unused boolean;
begin
    select m.id into model from embedding_model m where m.name = name and m.status = 'active';
    if not found then
        return false;
    end if;
    -- drop_embedding_model() explains the locks and their order. They also keep the first vector out.
    lock table observation in access exclusive mode;
    lock table reflection in share row exclusive mode;
    execute format('lock table %I in access exclusive mode', 'embedding_' || model);
    execute format('select not exists (select from %I)', 'embedding_' || model) into unused;
    if unused then
        execute format('drop table %I', 'embedding_' || model);
        delete from embedding_model m where m.id = model;
    end if;
    return unused;
end
$$;

comment on function textrawl.drop_unused_model is
    'Delete the active model if it has this name and never made a vector. Return whether it was deleted.';
