create function textrawl.refuse_access(credential bytea, scope text) returns void
language plpgsql stable parallel safe
set search_path from current
as $$
begin
    if credential is not null and not exists (
        select from token t where t.hash = credential and is_live_token(t.revoked_at, t.expires_at)) then
        raise exception using errcode = 'TR010', message = 'unknown, expired or revoked credential';
    end if;
    raise exception using errcode = 'TR011', message = 'not allowed', detail = scope;
end
$$;

comment on function textrawl.refuse_access is
    'Raise TR010 if a credential is not valid, otherwise TR011 with the missing scope.';
