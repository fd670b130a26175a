create function textrawl.pending_embeddings(model integer) returns table (facts bigint, next_attempt timestamptz)
language sql stable security definer
set search_path from current
begin atomic
    select count(*), min(p.next_attempt) from textrawl.embedding_pending p where p.model_id = model and p.space_id <> all(textrawl.sensitive_spaces());
end;

comment on function textrawl.pending_embeddings is
    'The number of facts and relations that wait for a vector of a model, and the time of the next attempt. '
    'Sensitive graphs get no vectors, so they do not count.';
