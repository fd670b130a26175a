create function textrawl.claim_document_embeddings(model integer, space integer, document uuid)
returns table (space_id integer, observation_id uuid, entity_name text, content text)
language sql volatile security definer
set search_path from current
begin atomic
    -- A claim only sets the time of the next attempt, as in claim_pending_embeddings(). Also take parts that the upkeep
    -- has claimed, because a search can follow this write at once.
    with due as (
        select p.space_id, p.observation_id
        from textrawl.document d
        join textrawl.fact o on o.space_id = d.space_id and o.entity_id = d.entity_id and o.whole = d.id
        join textrawl.embedding_pending p on p.space_id = o.space_id and p.observation_id = o.id
        where d.space_id = space and d.id = document and p.model_id = model and d.space_id <> all(textrawl.sensitive_spaces())
        order by o.part for update of p skip locked
    ), claimed as (
        update textrawl.embedding_pending p set attempts = p.attempts + 1, next_attempt = now() + interval '1 minute'
        from due where p.space_id = due.space_id and p.observation_id = due.observation_id and p.model_id = model
        returning p.space_id, p.observation_id
    )
    select o.space_id, o.id, e.name, o.content
    from claimed
    join textrawl.fact o on o.space_id = claimed.space_id and o.id = claimed.observation_id
    join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id;
end;

comment on function textrawl.claim_document_embeddings is
    'Claim and return the parts of a journal entry that wait for a vector of a model. The server that stored the parts '
    'then embeds them immediately. If it fails, the parts become due again after a minute.';
