create function textrawl.release_pending_embeddings(model integer, spaces integer[], observations uuid[]) returns integer
language plpgsql volatile security definer
set search_path from current
as $$
declare
    released integer;
begin
    update embedding_pending p set next_attempt = now(), attempts = greatest(p.attempts - 1, 0)
    from (
        -- One that somebody holds is being forgotten or worked at: it is due again by itself.
        select held.space_id, held.observation_id
        from unnest(spaces, observations) given (space_id, observation_id)
        join embedding_pending held on held.space_id = given.space_id and held.observation_id = given.observation_id
            and held.model_id = model
        for update of held skip locked) free
    where p.space_id = free.space_id and p.observation_id = free.observation_id and p.model_id = model;
    get diagnostics released = row_count;
    return released;
end
$$;

comment on function textrawl.release_pending_embeddings is
    'Gives claimed facts back at once when the provider, not the facts, was at fault; returns how many.';
