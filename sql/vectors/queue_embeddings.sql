create function textrawl.queue_embeddings(model integer, max_rows integer default 5000) returns boolean
language plpgsql volatile security definer
set search_path from current
as $$
declare
    model_row embedding_model;
begin
    -- Lock the facts before the row of the model, because drop_embedding_model() locks in this order.
    lock table observation in row share mode;
    -- If another session has locked the row, that session queues the existing facts. New facts are queued by the
    -- function that stores them.
    select * into model_row from embedding_model m where m.id = model and not m.queued for no key update skip locked;
    if not found then
        return false;
    end if;
    perform claim_removal();
    execute format($query$
        with batch as materialized (
            select o.space_id, o.id from observation o
            where $2 is null or (o.space_id, o.id) > ($2, $3)
            order by o.space_id, o.id limit $4 for key share
        ), listed as (
            insert into embedding_pending (space_id, observation_id, model_id)
            select b.space_id, b.id, $1 from batch b
            where not exists (select from %I v where v.space_id = b.space_id and v.observation_id = b.id)
            on conflict do nothing
        ), last as (
            select space_id, id from batch order by space_id desc, id desc limit 1
        )
        update embedding_model m
        set queued_space = coalesce((select space_id from last), m.queued_space),
            queued_observation = coalesce((select id from last), m.queued_observation),
            queued = (select count(*) from batch) < $4
        where m.id = $1$query$, 'embedding_' || model)
    using model, model_row.queued_space, model_row.queued_observation, max_rows;
    if (select m.queued from embedding_model m where m.id = model) then
        insert into item_vector (space_id, document_id, model_id, text_id)
        select i.space_id, i.document_id, model, coalesce((
            select v.text_id from item_vector v where v.space_id = i.space_id and v.document_id = i.document_id limit 1), gen_random_uuid())
        from item i where i.fts is not null
        on conflict do nothing;
    end if;
    return true;
end
$$;

comment on function textrawl.queue_embeddings is
    'Queue the next batch of the facts that are older than a model and have no vector of this model, and at last the items. Return false if '
    'all facts are queued, or if another session is queueing them. Call this function until it returns false.';
