-- The function takes a credential and does only what the credential allows.
grant execute on function textrawl.prune_documents to textrawl_app;
