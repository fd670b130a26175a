create function textrawl.embedding_progress()
returns table (
    model_id integer, name text, dimensions integer, status text, status_since timestamptz,
    vectors bigint,
    pending bigint,  -- facts and relations without a vector of this model
    bytes bigint,    -- size of the table of vectors with its indexes
    cosine_floor real, cosine_ceiling real, trust real,
    calibrated_at timestamptz  -- when the three values were measured; null if they are the defaults of textrawl
)
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
    total bigint;
begin
    -- Sensitive graphs get no vectors.
    select count(*) into total from observation o where o.space_id <> all(sensitive_spaces());
    for model_id, name, dimensions, status, status_since, cosine_floor, cosine_ceiling, trust, calibrated_at in
        select m.id, m.name, m.dimensions, m.status, m.status_since, m.cosine_floor, m.cosine_ceiling, m.trust, m.calibrated_at
        from embedding_model m order by m.id
    loop
        execute format('select count(*), pg_total_relation_size(stored_table(%1$L)), $1 - count(*) filter (where space_id <> all($2)) from %1$I',
                       'embedding_' || model_id)
        into vectors, bytes, pending using total, sensitive_spaces();
        pending := greatest(pending, 0);
        return next;
    end loop;
end
$$;

comment on function textrawl.embedding_progress is
    'Every model with the number of its vectors, the number of facts without a vector, and the size of its table. '
    'Example: select * from textrawl.embedding_progress();';
