create function textrawl.claim_pending_embeddings(model integer, max_rows integer default 64)
returns table (
    space_id integer,
    observation_id uuid,  -- of an item: item_vector.text_id
    entity_name text,     -- empty: an item
    content text
)
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
    ), due_item as (
        select v.space_id, v.document_id, v.text_id from textrawl.item_vector v
        where v.model_id = model and v.vector is null and (v.next_attempt <= now() or v.next_attempt > now() + interval '61 minutes')
        order by v.next_attempt limit max_rows - (select count(*) from due) for update skip locked
    ), claimed_item as (
        update textrawl.item_vector v
        set attempts = v.attempts + 1, next_attempt = now() + least(interval '1 hour', interval '1 minute' * 2 ^ least(v.attempts, 10))
        from due_item where v.space_id = due_item.space_id and v.document_id = due_item.document_id and v.model_id = model
        returning v.space_id, v.document_id, v.text_id
    )
    select c.space_id, c.text_id, ''::text, left(textrawl.item_text(i.fields -> 'value', i.attributes -> 'index'), 2000)
    from claimed_item c cross join lateral textrawl.present_items(c.space_id) i where i.document_id = c.document_id
    union all
    select o.space_id, o.id, e.name, o.content
    from claimed
    join textrawl.observation o on o.space_id = claimed.space_id and o.id = claimed.observation_id
    join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id;
end;

comment on function textrawl.claim_pending_embeddings is
    'Claim and return facts and items that wait for a vector of a model, so that only one worker embeds and stores them. '
    'Texts of sensitive graphs are left out, because the embedding provider can be another company.';
