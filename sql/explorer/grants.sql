-- Each of these functions but write_state, which returns no content, takes a credential and does only what the
-- credential allows.
grant execute on function textrawl.activity_days, textrawl.browse_entities, textrawl.close_pairs, textrawl.download_facts, textrawl.entity_days, textrawl.entity_graph,
    textrawl.entity_history, textrawl.entity_names, textrawl.entity_relations,
    textrawl.entity_spaces, textrawl.find_documents, textrawl.list_clients, textrawl.list_sources, textrawl.map_facts, textrawl.mark_matches,
    textrawl.new_facts, textrawl.read_document, textrawl.recent_authors, textrawl.review_queue, textrawl.sample_vectors,
    textrawl.space_timeline, textrawl.stale_facts, textrawl.suggest_entities, textrawl.write_state
    to textrawl_app;
