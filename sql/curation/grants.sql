-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function textrawl.revise_fact, textrawl.propose_pin, textrawl.share_memories, textrawl.dismiss_candidates, textrawl.list_dismissals to textrawl_app;

-- Row-level security shows a login only the rows of the spaces that were granted to its actor.
grant select on textrawl.revision to textrawl_analyst;
