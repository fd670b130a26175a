create function textrawl.pending_embeddings(model integer) returns table (facts bigint, next_attempt timestamptz)
language sql stable security definer
set search_path from current
begin atomic
    select count(*), min(p.next_attempt)
    from (
        select f.next_attempt from textrawl.embedding_pending f where f.model_id = model and f.space_id <> all(textrawl.sensitive_spaces())
        union all
        select v.next_attempt from textrawl.item_vector v where v.model_id = model and v.vector is null) p;
end;

comment on function textrawl.pending_embeddings is
    'The number of facts, relations and items that wait for a vector of a model, and the time of the next attempt. '
    'Sensitive graphs get no vectors, so they do not count.';
