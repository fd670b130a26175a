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
    known embedding_model;
    other text;
begin
    lock table embedding_model in share update exclusive mode;
    select * into known from embedding_model m where m.name = name;
    if known.status in ('active', 'previous') then
        raise exception using errcode = case known.status when 'active' then 'TR041' else 'TR042' end,
            message = 'the model is ' || known.status, detail = name;
    elsif known.id is not null then
        perform check_embedding_model(known.id, dimensions, cosine_floor, cosine_ceiling, trust);
        -- Nobody else works at a model that is built: what was claimed was by somebody who is gone.
        update embedding_pending p set next_attempt = now()
        from (select held.space_id, held.observation_id from embedding_pending held
              where held.model_id = known.id and held.next_attempt > now() for update skip locked) free
        where p.space_id = free.space_id and p.observation_id = free.observation_id and p.model_id = known.id;
        return known.id;
    end if;
    select m.name into other from embedding_model m where m.status <> 'active' order by m.id limit 1;
    if found then
        raise exception using errcode = 'TR043', message = 'there is another model beside the active one', detail = other;
    end if;
    return create_embedding_model(name, dimensions, cosine_floor, cosine_ceiling, trust,
        case when exists (select from embedding_model m where m.status = 'active') then 'building' else 'active' end);
end
$$;

comment on function textrawl.start_embedding_model is
    'The id of a model that is built beside the active one, made when new. Errors: TR004 other dimensions than before, TR041 it is active, TR042 it was active and is kept, TR043 another one is beside the active one already.';
