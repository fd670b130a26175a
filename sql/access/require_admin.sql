create function textrawl.require_admin(credential bytea, space integer) returns void
language plpgsql stable parallel safe
set search_path from current
as $$
begin
    -- The owner's login may do so whatever else is given; no server runs as that.
    if not owns_memory() and not exists (
        select from access_rights(credential) r
        where r.space_id = require_admin.space and 'admin' = any(r.scopes)) then
        perform refuse_access(credential, 'admin');
    end if;
end
$$;

comment on function textrawl.require_admin is
    'Raises TR010, TR011 unless this session is the owner''s, or the credential has the scope admin in a space. A null space is nobody''s.';
