create function textrawl.require_admin(credential bytea, space integer) returns void
language plpgsql stable parallel safe
set search_path from current
as $$
begin
    -- The owner may do so with any credential; servers never run as the owner.
    if not owns_memory() and not exists (
        select from access_rights(credential) r
        where r.space_id = require_admin.space and 'admin' = any(r.scopes)) then
        perform refuse_access(credential, 'admin');
    end if;
end
$$;

comment on function textrawl.require_admin is
    'Raise TR010 or TR011 unless this session is the owner''s or the credential has the scope admin in a space. Nobody '
    'administers a null space.';
