create function textrawl.sample_vectors(max_rows integer default 1000, spaces integer[] default null, credential bytea default null)
returns setof halfvec
language plpgsql stable security definer rows 1000
set search_path from current
set jit = off
as $$
declare
    model    integer := active_model();
    readable integer[] := readable_spaces(credential, sample_vectors.spaces);
begin
    -- The hash chooses the same facts each time, so that a map which is made of them keeps its directions.
    return query
        select v.vector from fact o
        join embedding v on v.model_id = model and v.space_id = o.space_id and v.observation_id = o.id
        where o.space_id = any(readable) and is_valid(o.valid_from, o.valid_until, o.closed_at)
        order by uuid_hash(o.id), o.id limit least(greatest(max_rows, 0), 5000);
end
$$;

comment on function textrawl.sample_vectors is
    'Vectors of the active model of at most max_rows valid facts, in an order that does not depend on their content. Empty '
    'without a model. Errors: TR010, TR011 (access). '
    'Example: select count(*) from textrawl.sample_vectors(100);';
