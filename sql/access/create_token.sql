create function textrawl.create_token(
    hash bytea, prefix text, actor text, space text, scopes text[], expires_at timestamptz default null,
    issuer text default null
) returns integer
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    target_space integer;
    created_id   integer;
begin
    perform require_owner();
    target_space := find_space(create_token.space);
    perform check_token(create_token.hash, create_token.prefix, create_token.expires_at);
    insert into token as t (hash, kind, prefix, actor_id, home_space_id, scopes, expires_at, issuer)
    values (create_token.hash, 'bearer', create_token.prefix, enrol_actor(create_token.actor), target_space,
            check_scopes(create_token.scopes), create_token.expires_at, create_token.issuer)
    returning t.id into created_id;
    insert into space_grant as g (space_id, actor_id, scopes)
    select target_space, t.actor_id, t.scopes from token t where t.id = created_id
    on conflict (space_id, actor_id) do update
    set scopes = check_scopes(g.scopes || excluded.scopes),
        for_login = g.for_login and not 'read' = any(excluded.scopes), granted_at = now()
    where not g.scopes @> excluded.scopes or g.for_login;
    return created_id;
end
$$;

comment on function textrawl.create_token is
    'Store a token of an actor as its SHA-256 and its first characters, and return its id. The given space is the home '
    'space of the token, and the actor gets the scopes of the token there. If an issuer is given, a server with this '
    'token can accept logins of this identity provider. Errors: TR013 (not the owner), TR020 (no such space), TR025 (not a valid name of an actor), TR026 '
    '(wrong scopes), TR029 (wrong hash, prefix or time of expiry). '
    'Example: select textrawl.create_token(hash => sha256(''trl_…''), prefix => ''trl_example'', actor => ''ana'', space => '
    '''team'', scopes => array[''read'']);';
