create function textrawl.rollback_embedding_model(out name text, out abandoned text)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    model integer;
begin
    lock table embedding_model in share update exclusive mode;
    select m.id, m.name into model, name from embedding_model m
    where m.status = 'previous' order by m.status_since desc, m.id desc limit 1;
    if not found then
        raise exception using errcode = 'TR047', message = 'there is no previous model';
    end if;
    select m.name into abandoned from embedding_model m where m.status = 'building';
    if found then
        raise exception using errcode = 'TR043', message = 'there is another model beside the active model', detail = abandoned;
    end if;
    update embedding_model m set status = 'building', status_since = now() where m.status = 'active'
    returning m.name into abandoned;
    update embedding_model m set status = 'active', status_since = now() where m.id = model;
end
$$;

comment on function textrawl.rollback_embedding_model is
    'Make the previous model active again. The model that was active is kept, so you can switch back to it. Errors: '
    'TR047 (there is no previous model), TR043 (another model is being built).';
