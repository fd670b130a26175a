create function textrawl.switch_embedding_model(out name text, out previous text)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    model   integer;
    missing bigint;
    total   bigint;
begin
    lock table embedding_model in share update exclusive mode;
    select m.id, m.name into model, name from embedding_model m where m.status = 'building';
    if not found then
        raise exception using errcode = 'TR044', message = 'no model is being built';
    end if;
    select p.pending, p.vectors + p.pending into missing, total from embedding_progress() p where p.model_id = model;
    -- Callers write facts all the time, so a few facts are always without a vector. Search finds these facts by their
    -- words.
    if missing > total / 100 then
        raise exception using errcode = 'TR045', message = 'too many facts wait for a vector', detail = missing;
    end if;
    update embedding_model m
    set status = 'previous', status_since = now()
    where m.status = 'active'
    returning m.name into previous;
    update embedding_model m set status = 'active', status_since = now() where m.id = model;
end
$$;

comment on function textrawl.switch_embedding_model is
    'Make the model with the status building active. The model that was active becomes previous, and its vectors are '
    'kept. Errors: TR044 (no model has the status building), TR045 (more than one fact in a hundred has no vector of the model yet).';
