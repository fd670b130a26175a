-- Servers call these functions for upkeep, without a credential. A server sees the content of facts that wait for a
-- vector, because it sends this content to the embedding provider.
grant execute on function
    textrawl.embedding_models, textrawl.register_embedding_model, textrawl.queue_embeddings,
    textrawl.claim_pending_embeddings, textrawl.claim_document_embeddings, textrawl.fill_pending_embeddings,
    textrawl.release_pending_embeddings, textrawl.pending_embeddings, textrawl.english_share
    to textrawl_app;

-- Row-level security shows a login only the rows of the spaces that were granted to its actor.
grant select on textrawl.embedding_model, textrawl.embedding_pending to textrawl_analyst;
