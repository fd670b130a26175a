create function textrawl.calibrate_embedding_model(
    name text, cosine_floor double precision, cosine_ceiling double precision, trust double precision, measured boolean default true
) returns text
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_variable
begin
    update embedding_model m
    set cosine_floor = calibrate_embedding_model.cosine_floor,
        cosine_ceiling = calibrate_embedding_model.cosine_ceiling,
        trust = calibrate_embedding_model.trust,
        calibrated_at = case when measured then now() end
    where m.name = name;
    if not found then
        raise exception using errcode = 'TR046', message = 'there is no such model', detail = name;
    end if;
    return name;
end
$$;

comment on function textrawl.calibrate_embedding_model is
    'Store the range of cosines and the trust of a model, and return its name. A newer version of textrawl can replace '
    'these values, but it keeps measured values. Error TR046: there is no such model. '
    'Example: select textrawl.calibrate_embedding_model(''local:wordllama-l2-supercat-256'', 0, 0.9, 0.5);';
