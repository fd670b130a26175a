create function textrawl.has_tokens() returns boolean
language sql volatile security definer
set search_path from current
begin atomic
    select exists (
        select from textrawl.token t where t.kind = 'bearer' and textrawl.is_live_token(t.revoked_at, t.expires_at)
    );
end;

comment on function textrawl.has_tokens is
    'True if there is an access token that is neither revoked nor expired. '
    'Example: select textrawl.has_tokens();';
