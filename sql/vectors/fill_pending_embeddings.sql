create function textrawl.fill_pending_embeddings(model integer, spaces integer[], observations uuid[], embeddings halfvec[]) returns integer
language plpgsql volatile security definer
set search_path from current
as $$
declare
    stored integer;
begin
    if not exists (select from embedding_model m where m.id = model) then
        return 0;  -- dropped meanwhile
    end if;
    -- The fact may have been forgotten since it was claimed: then its pending row is gone as well.
    execute format($query$
        with done as (
            delete from embedding_pending p
            using unnest($2, $3) given (space_id, observation_id)
            where p.space_id = given.space_id and p.observation_id = given.observation_id and p.model_id = $1
            returning p.space_id, p.observation_id)
        insert into %I (space_id, observation_id, vector)
        select done.space_id, done.observation_id, given.vector
        from done join unnest($2, $3, $4) given (space_id, observation_id, vector) using (space_id, observation_id)
        on conflict do nothing$query$, 'embedding_' || model)
    using model, spaces, observations, embeddings;
    get diagnostics stored = row_count;
    return stored;
end
$$;

comment on function textrawl.fill_pending_embeddings is
    'Stores vectors for claimed facts and takes them off the pending list; returns how many were stored.';
