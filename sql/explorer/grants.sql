-- Each of these functions but write_state, which returns no content, takes a credential and does only what the
-- credential allows.
grant execute on function textrawl.close_pairs, textrawl.entity_history, textrawl.entity_graph, textrawl.write_state to textrawl_app;
