-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function textrawl.close_pairs, textrawl.entity_history, textrawl.entity_graph to textrawl_app;
