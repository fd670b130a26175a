create function textrawl.start_embedding_model(
    name text, dimensions integer,
    cosine_floor double precision default 0, cosine_ceiling double precision default 1,
    trust double precision default 0.8
) returns integer
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_variable
declare
    existing embedding_model;
    other text;
begin
    lock table embedding_model in share update exclusive mode;
    select * into existing from embedding_model m where m.name = name;
    if existing.status in ('active', 'previous') then
        raise exception using errcode = case existing.status when 'active' then 'TR041' else 'TR042' end,
            message = 'the model is ' || existing.status, detail = name;
    elsif existing.id is not null then
        perform check_embedding_model(existing.id, dimensions, cosine_floor, cosine_ceiling, trust);
        -- Only one session builds a model. So if rows are still claimed, the session that claimed them has ended.
        perform release_all_embeddings(existing.id);
        return existing.id;
    end if;
    select m.name into other from embedding_model m where m.status <> 'active' order by m.id limit 1;
    if found then
        raise exception using errcode = 'TR043', message = 'there is another model beside the active model', detail = other;
    end if;
    return create_embedding_model(name, dimensions, cosine_floor, cosine_ceiling, trust,
        case when exists (select from embedding_model m where m.status = 'active') then 'building' else 'active' end);
end
$$;

comment on function textrawl.start_embedding_model is
    'Return the id of a model that is built while another model is active. A new model is created. Errors: TR004 (the '
    'model has other dimensions than before), TR041 (the model is active), TR042 (the model was active before and is '
    'kept), TR043 (another model is already being built or kept).';
