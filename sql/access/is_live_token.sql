create function textrawl.is_live_token(revoked_at timestamptz, expires_at timestamptz) returns boolean
language sql volatile parallel safe
begin atomic
    -- The function is volatile like clock_timestamp(). The planner would not inline a stable function with a volatile
    -- expression.
    select revoked_at is null and (expires_at is null or expires_at > clock_timestamp());
end;

comment on function textrawl.is_live_token is
    'True for an access token that is neither revoked nor expired. '
    'Example: select prefix from textrawl.token t where textrawl.is_live_token(t.revoked_at, t.expires_at);';
