-- Each of these functions but write_state, which returns no content, takes a credential and does only what the
-- credential allows.
grant execute on function textrawl.close_pairs, textrawl.entity_days, textrawl.entity_graph, textrawl.entity_history,
    textrawl.entity_spaces, textrawl.space_timeline, textrawl.write_state to textrawl_app;
