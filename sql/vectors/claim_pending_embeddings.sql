create function textrawl.claim_pending_embeddings(model integer, max_rows integer default 64)
returns table (space_id integer, observation_id uuid, entity_name text, content text)
language sql volatile security definer
set search_path from current
begin atomic
    -- A claim only sets the time of the next attempt. So if the worker crashes, the rows become due again. The wait
    -- doubles after each attempt.
    with due as (
        select p.space_id, p.observation_id from textrawl.embedding_pending p
        -- The next attempt is at most one hour ahead. If next_attempt is later, the clock was set back meanwhile.
        where p.model_id = model and (p.next_attempt <= now() or p.next_attempt > now() + interval '61 minutes')
          and p.space_id <> all(textrawl.sensitive_spaces())
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
    'Claim and return facts that wait for a vector of a model, so that only one worker embeds and stores these facts. '
    'Texts of sensitive graphs are left out, because the embedding provider can be another company.';
