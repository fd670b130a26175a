-- Each of these functions takes a credential and does only what the credential allows.
grant execute on function
    textrawl.authenticate, textrawl.vouch, textrawl.grant_access, textrawl.revoke_access, textrawl.list_grants,
    textrawl.list_tokens, textrawl.change_language, textrawl.change_tier
    to textrawl_app;

-- An analyst calls these functions without a credential. The analyst's actor needs the scope admin in the space.
grant execute on function textrawl.change_language, textrawl.change_tier to textrawl_analyst;

-- These functions show no content of a memory, so they need no credential.
grant execute on function textrawl.owns_memory, textrawl.default_space, textrawl.has_tokens to textrawl_app;

grant execute on function
    textrawl.readable_spaces, textrawl.session_spaces, textrawl.default_space, textrawl.owns_memory
    to textrawl_analyst;

-- Row-level security shows a login only the rows of the spaces that were granted to its actor.
grant select on textrawl.space_grant to textrawl_analyst;

grant select (id, name, created_at) on textrawl.actor to textrawl_analyst;
