create function textrawl.register_embedding_model(
    name text, dimensions integer,
    cosine_floor double precision default 0, cosine_ceiling double precision default 1,
    trust double precision default 0.8
) returns integer
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    model    integer;
    recorded integer;
begin
    select m.id, m.dimensions into model, recorded from embedding_model m where m.name = register_embedding_model.name;
    if model is null then
        perform pg_advisory_xact_lock(hashtextextended('textrawl.register_embedding_model', 0));
        insert into embedding_model as m (name, dimensions, cosine_floor, cosine_ceiling, trust)
        values (register_embedding_model.name, register_embedding_model.dimensions,
                register_embedding_model.cosine_floor, register_embedding_model.cosine_ceiling,
                register_embedding_model.trust)
        on conflict do nothing
        returning m.id into model;
        if model is null then
            return register_embedding_model(name, dimensions, cosine_floor, cosine_ceiling, trust);
        end if;
        execute format($ddl$
            create table %1$I (
                space_id integer not null,
                observation_id uuid not null,
                vector halfvec(%2$s) not null,
                primary key (space_id, observation_id),
                foreign key (space_id, observation_id) references observation on delete cascade
            )$ddl$, 'embedding_' || model, register_embedding_model.dimensions);
        execute format('create index on %I using hnsw (vector halfvec_cosine_ops) with (m = 16, ef_construction = 128)',
                       'embedding_' || model);
        execute format('comment on table %I is %L', 'embedding_' || model,
                       'Vectors of ' || register_embedding_model.name || ', one a fact, apart from the facts so that full text reads few pages.');
        perform protect_tables();
        insert into embedding_pending (space_id, observation_id, model_id)
        select space_id, id, model from observation;
    elsif recorded <> register_embedding_model.dimensions then
        raise exception using errcode = 'TR004',
            message = format('model %s had %s dimensions and now has %s', register_embedding_model.name, recorded, register_embedding_model.dimensions);
    else
        -- What a cosine means may have been measured anew since.
        update embedding_model m
        set cosine_floor = register_embedding_model.cosine_floor,
            cosine_ceiling = register_embedding_model.cosine_ceiling,
            trust = register_embedding_model.trust
        where m.id = model and (m.cosine_floor, m.cosine_ceiling, m.trust)
            is distinct from (register_embedding_model.cosine_floor::real,
                register_embedding_model.cosine_ceiling::real, register_embedding_model.trust::real);
    end if;
    return model;
end
$$;

comment on function textrawl.register_embedding_model is
    'The id of a model, created with its table of vectors when new; all facts then wait for its vectors. Error TR004: other dimensions than before.';
