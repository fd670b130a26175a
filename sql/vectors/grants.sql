-- A server's own work, which needs no credential. The server sees the content of facts that wait for a vector,
-- because it asks the provider for these vectors.
grant execute on function
    textrawl.embedding_models, textrawl.register_embedding_model, textrawl.queue_embeddings,
    textrawl.claim_pending_embeddings, textrawl.fill_pending_embeddings, textrawl.release_pending_embeddings,
    textrawl.pending_embeddings
    to textrawl_app;

-- Row-level security shows a login the rows of the spaces that were granted to it.
grant select on textrawl.embedding_model, textrawl.embedding_pending to textrawl_analyst;
