create function textrawl.copy_vectors(source integer, target integer, facts uuid[], copies uuid[]) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    model integer;
begin
    for model in select m.id from embedding_model m order by m.id loop
        execute format($query$
            insert into %1$I (space_id, observation_id, vector)
            select $2, input.copy, v.vector from unnest($3, $4) input (id, copy)
            join %1$I v on v.space_id = $1 and v.observation_id = input.id
            on conflict do nothing$query$, 'embedding_' || model)
        using source, target, facts, copies;
        execute format($query$
            insert into embedding_pending (space_id, observation_id, model_id)
            select $1, copy, $3 from unnest($2) copy
            where not exists (select from %I v where v.space_id = $1 and v.observation_id = copy)
            on conflict do nothing$query$, 'embedding_' || model)
        using target, copies, model;
    end loop;
end
$$;

comment on function textrawl.copy_vectors is
    'Copy the vectors of facts to their copies in another space, for every model. Queue copies without a vector.';
