create function textrawl.pending_embeddings(model integer) returns bigint
language sql stable security definer
set search_path from current
begin atomic
    select (select count(*) from textrawl.embedding_pending p where p.model_id = model and p.space_id <> all(textrawl.sensitive_spaces()))
        + (select count(*) from textrawl.item_vector v where v.model_id = model and v.vector is null);
end;

comment on function textrawl.pending_embeddings is
    'The number of facts, relations and items that wait for a vector of a model. '
    'Sensitive graphs get no vectors, so they do not count.';
