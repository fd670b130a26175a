-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function
    textrawl.erasure_plan, textrawl.list_erasure, textrawl.erase_person, textrawl.verify_erasure, textrawl.rename_erased_actors
    to textrawl_app;

-- Row-level security shows a login only the rows of the spaces that were granted to its actor.
grant select on textrawl.erasure to textrawl_analyst;
