-- The function takes a credential and does only what the credential allows.
grant execute on function textrawl.tidy_memory to textrawl_app;
