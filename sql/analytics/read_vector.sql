create function textrawl.read_vector(space integer, fact uuid, model integer) returns halfvec
language plpgsql stable
set search_path from current
as $$
begin
    return (
        select v.vector from embedding v
        where v.model_id = read_vector.model and v.space_id = read_vector.space and v.observation_id = read_vector.fact);
end
$$;

comment on function textrawl.read_vector is
    'The vector of a fact by a model; null if the fact has no vector of this model yet.';
