create function textrawl.check_token(hash bytea, prefix text, expires_at timestamptz) returns void
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    reason text;
begin
    select case
        when check_token.hash is null or octet_length(check_token.hash) <> 32 then 'the hash must be a SHA-256 of 32 bytes'
        when exists (select from token t where t.hash = check_token.hash) then 'a token with this hash exists already'
        when check_token.prefix is null or char_length(check_token.prefix) not between 4 and 16
            then 'the prefix must have 4 to 16 characters'
        when check_token.expires_at <= now() or not isfinite(check_token.expires_at)
            then 'the time of expiry must be in the future'
    end into reason;
    if reason is not null then
        raise exception using errcode = 'TR029', message = reason, detail = reason;
    end if;
end
$$;

comment on function textrawl.check_token is
    'Check the hash, prefix and time of expiry of a new token. Error TR029: one of these values is not valid.';
