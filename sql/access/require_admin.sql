create function textrawl.require_admin(credential bytea, space integer) returns void
language plpgsql stable parallel safe
set search_path from current
as $$
begin
    -- The owner can do this with any credential. Servers never run as the owner.
    if not owns_memory() and not exists (
        select from access_rights(credential) r
        where r.space_id = require_admin.space and 'admin' = any(r.scopes)) then
        perform refuse_access(credential, 'admin');
    end if;
end
$$;

comment on function textrawl.require_admin is
    'Raise TR010 or TR011 unless this session belongs to the owner or the credential has the scope admin in a space. '
    'If the space is null, every credential is refused.';
