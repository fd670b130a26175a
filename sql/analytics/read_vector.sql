create function textrawl.read_vector(space integer, fact uuid, model integer) returns halfvec
language plpgsql stable
set search_path from current
as $$
declare
    found_vector halfvec;
begin
    if model is not null then
        execute format('select v.vector from %I v where v.space_id = $1 and v.observation_id = $2', 'embedding_' || model)
        into found_vector using space, fact;
    end if;
    return found_vector;
end
$$;

comment on function textrawl.read_vector is
    'The vector of a fact by a model; null if the fact has no vector of this model yet.';
