-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function textrawl.fetch_document, textrawl.fetch_entity, textrawl.fetch_fact to textrawl_app;
