create function textrawl.start_awaited_model(
    name text, dimensions integer,
    cosine_floor double precision default 0, cosine_ceiling double precision default 1,
    trust double precision default 0.8
) returns integer
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    model integer;
begin
    lock table embedding_model in share update exclusive mode;
    select m.id into model from embedding_model m where m.name = name and m.status = 'building';
    if found then
        perform check_embedding_model(model, dimensions, cosine_floor, cosine_ceiling, trust);
        -- A model without an index was started by the owner, who also switches to it.
        return (select model where exists (select from vector_index(model) where valid));
    end if;
    if not exists (select from embedding_model m where m.status = 'active' and m.stands_in_for is not null)
       or exists (select from embedding_model m where m.status <> 'active') then
        return null;
    end if;
    model := create_embedding_model(name, dimensions, cosine_floor, cosine_ceiling, trust, 'building');
    -- start_embedding_model() leaves the index to the owner of the memory. A server cannot build it later.
    execute vector_index_definition(model, false);
    return model;
end
$$;

comment on function textrawl.start_awaited_model is
    'Return the id of the model that a stand-in was waiting for. Servers call this function when they have the files '
    'of the model, and then make its vectors. Null: the active model stands in for no other model, or another model '
    'is being built or kept. Error TR004: the model has other dimensions than before.';
