-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function
    textrawl.start_import, textrawl.known_items, textrawl.store_item, textrawl.finish_import, textrawl.list_imports
    to textrawl_app;

-- Row-level security shows a login only the rows of the spaces that were granted to its actor.
grant select on textrawl.import_run, textrawl.imported_item to textrawl_analyst;
