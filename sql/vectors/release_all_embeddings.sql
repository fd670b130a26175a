create function textrawl.release_all_embeddings(model integer) returns integer
language plpgsql volatile
set search_path from current
as $$
declare
    released integer;
begin
    update embedding_pending p set next_attempt = now()
    from (select claimed.space_id, claimed.observation_id from embedding_pending claimed
          where claimed.model_id = model and claimed.next_attempt > now() for update skip locked) unlocked
    where p.space_id = unlocked.space_id and p.observation_id = unlocked.observation_id and p.model_id = model;
    get diagnostics released = row_count;
    update item_vector v set next_attempt = now()
    where v.model_id = model and v.vector is null and v.next_attempt > now();
    return released;
end
$$;

comment on function textrawl.release_all_embeddings is
    'Make all claimed facts and items of a model due again, because the session that claimed them has ended. Return the number of '
    'these facts.';
