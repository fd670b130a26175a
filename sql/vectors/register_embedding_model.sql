create function textrawl.register_embedding_model(
    name text, dimensions integer,
    cosine_floor double precision default 0, cosine_ceiling double precision default 1,
    trust double precision default 0.8
) returns integer
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    model  integer;
    active text;
begin
    select m.id into model from embedding_model m where m.name = name;
    if model is null then
        lock table embedding_model in share update exclusive mode;
        select m.id into model from embedding_model m where m.name = name;
    end if;
    if model is not null then
        perform check_embedding_model(model, dimensions, cosine_floor, cosine_ceiling, trust);
        return model;
    end if;
    select m.name into active from embedding_model m where m.status = 'active';
    if found then
        raise exception using errcode = 'TR040', message = 'another model is active', detail = active;
    end if;
    return create_embedding_model(name, dimensions, cosine_floor, cosine_ceiling, trust, 'active');
end
$$;

comment on function textrawl.register_embedding_model is
    'Return the id of a model. The first model of a memory is created and becomes active. Errors: TR004 (the model has '
    'other dimensions than before), TR040 (another model is active; start_embedding_model() can build a second model).';
