create function textrawl.revoke_access(actor text, space text, credential bytea default null) returns text[]
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    place integer := find_space(revoke_access.space);
    taken text[];
begin
    perform require_admin(credential, place);
    delete from space_grant g using actor a
    where g.space_id = place and g.actor_id = a.id and a.name = revoke_access.actor
    returning g.scopes into taken;
    if taken is null then
        raise exception using errcode = 'TR023', message = format('nothing is granted to %s there', revoke_access.actor),
            detail = coalesce(revoke_access.actor, '');
    end if;
    return taken;
end
$$;

comment on function textrawl.revoke_access is
    'Takes from an actor all that was granted in a space, and returns it; for the owner, and for credentials with the scope admin there. Errors: TR010, TR011 (access), TR020 no such space, TR023 nothing was granted. Example: select textrawl.revoke_access(actor => ''ana'', space => ''team'');';
