-- The function takes a credential and does only what the credential allows.
grant execute on function textrawl.entity_history to textrawl_app;
