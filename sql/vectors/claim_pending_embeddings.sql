create function textrawl.claim_pending_embeddings(model integer, max_rows integer default 64)
returns table (space_id integer, observation_id uuid, entity_name text, content text)
language sql volatile security definer
set search_path from current
begin atomic
    -- If a worker dies, its rows become due again: each claim only moves the next attempt, further away every time.
    with due as (
        select p.space_id, p.observation_id from textrawl.embedding_pending p
        -- An attempt is never planned more than an hour ahead, unless the clock was set back since.
        where p.model_id = model and (p.next_attempt <= now() or p.next_attempt > now() + interval '61 minutes')
        order by p.next_attempt limit max_rows for update skip locked
    ), claimed as (
        update textrawl.embedding_pending p
        set attempts = p.attempts + 1, next_attempt = now() + least(interval '1 hour', interval '1 minute' * 2 ^ least(p.attempts, 10))
        from due where p.space_id = due.space_id and p.observation_id = due.observation_id and p.model_id = model
        returning p.space_id, p.observation_id
    )
    select o.space_id, o.id, e.name, o.content
    from claimed
    join textrawl.observation o on o.space_id = claimed.space_id and o.id = claimed.observation_id
    join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id;
end;

comment on function textrawl.claim_pending_embeddings is
    'Claim facts that wait for a vector of a model, so that one worker embeds and stores them.';
