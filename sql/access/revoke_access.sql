create function textrawl.revoke_access(actor text, space text, credential bytea default null) returns text[]
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    target_space integer := find_space(revoke_access.space);
    revoked text[];
begin
    perform require_admin(credential, target_space);
    delete from space_grant g using actor a
    where g.space_id = target_space and g.actor_id = a.id and a.name = revoke_access.actor
    returning g.scopes into revoked;
    if revoked is null then
        raise exception using errcode = 'TR023', message = format('%s has no grant in this space', revoke_access.actor),
            detail = coalesce(revoke_access.actor, '');
    end if;
    return revoked;
end
$$;

comment on function textrawl.revoke_access is
    'Revoke the grant of an actor in a space and return its scopes. The caller must be the owner or have a credential '
    'with the scope admin in the space. Errors: TR010, TR011 (access), TR020 (no such space), TR023 (the actor has no '
    'grant in this space). '
    'Example: select textrawl.revoke_access(actor => ''ana'', space => ''team'');';
