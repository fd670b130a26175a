create function textrawl.check_embedding_model(
    model integer, dimensions integer,
    cosine_floor double precision, cosine_ceiling double precision, trust double precision
) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_variable
declare
    recorded embedding_model;
begin
    select * into strict recorded from embedding_model m where m.id = model;
    if recorded.dimensions <> dimensions then
        raise exception using errcode = 'TR004', detail = recorded.name,
            message = format('model %s had %s dimensions and now has %s', recorded.name, recorded.dimensions, dimensions);
    end if;
    -- A newer version of textrawl can have another range of cosines. Keep a range that was measured with the facts of
    -- this memory.
    update embedding_model m
    set cosine_floor = check_embedding_model.cosine_floor,
        cosine_ceiling = check_embedding_model.cosine_ceiling,
        trust = check_embedding_model.trust
    where m.id = model and m.calibrated_at is null and (m.cosine_floor, m.cosine_ceiling, m.trust)
        is distinct from (cosine_floor::real, cosine_ceiling::real, trust::real);
end
$$;

comment on function textrawl.check_embedding_model is
    'Check the dimensions of a model, and update the stored range of its cosines and its trust. Values that were '
    'measured in this memory are kept. Error TR004: the model has other dimensions than before.';
