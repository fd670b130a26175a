create function textrawl.release_pending_embeddings(model integer, spaces integer[], observations uuid[]) returns integer
language plpgsql volatile security definer
set search_path from current
as $$
declare
    released integer;
begin
    update embedding_pending p set next_attempt = now(), attempts = greatest(p.attempts - 1, 0)
    from (
        -- Skip rows that another session has locked, because that session is forgetting or embedding the facts. If such
        -- a row is not deleted, it becomes due again later.
        select claimed.space_id, claimed.observation_id
        from unnest(spaces, observations) input (space_id, observation_id)
        join embedding_pending claimed on claimed.space_id = input.space_id and claimed.observation_id = input.observation_id
            and claimed.model_id = model
        for update of claimed skip locked) unlocked
    where p.space_id = unlocked.space_id and p.observation_id = unlocked.observation_id and p.model_id = model;
    get diagnostics released = row_count;
    update item_vector v set next_attempt = now(), attempts = greatest(v.attempts - 1, 0)
    from (select w.space_id, w.text_id
          from unnest(spaces, observations) input (space_id, id)
          join item_vector w on w.space_id = input.space_id and w.text_id = input.id and w.model_id = model and w.vector is null
          for update of w skip locked) claimed
    where v.space_id = claimed.space_id and v.text_id = claimed.text_id and v.model_id = model;
    return released;
end
$$;

comment on function textrawl.release_pending_embeddings is
    'Make claimed facts and items due again immediately. Servers call this after a fault of the embedding provider that the '
    'facts did not cause. Return the number of these facts.';
