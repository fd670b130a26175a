-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function
    textrawl.store_source, textrawl.known_sources, textrawl.hasten_embeddings, textrawl.read_chunk, textrawl.forget_source,
    textrawl.propose_correction, textrawl.apply_correction, textrawl.list_graphs, textrawl.recall_chunks,
    textrawl.reachable_graphs, textrawl.measure_graphs
    to textrawl_app;

grant execute on function textrawl.list_graphs, textrawl.recall_chunks to textrawl_analyst;

-- Row-level security shows a login only the rows of the spaces that were granted to its actor.
grant select on textrawl.source, textrawl.chunk, textrawl.correction to textrawl_analyst;
