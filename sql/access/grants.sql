-- Each of these asks for a credential, and does only what the credential allows.
grant execute on function
    textrawl.authenticate, textrawl.vouch, textrawl.grant_access, textrawl.revoke_access, textrawl.list_grants
    to textrawl_app;

-- These show nothing of a memory's content, so they need no credential.
grant execute on function textrawl.owns_memory, textrawl.default_space to textrawl_app;

grant execute on function
    textrawl.readable_spaces, textrawl.session_spaces, textrawl.default_space, textrawl.owns_memory
    to textrawl_analyst;

-- Row-level security shows a login the rows of the spaces that were granted to it.
grant select on textrawl.space_grant to textrawl_analyst;

grant select (id, name, created_at) on textrawl.actor to textrawl_analyst;
