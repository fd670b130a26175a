create function textrawl.grant_access(actor text, space text, scopes text[], credential bytea default null) returns text[]
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    target_space integer := find_space(grant_access.space);
    granted text[];
    member integer;
begin
    perform require_admin(credential, target_space);
    member := enrol_actor(grant_access.actor);
    perform from actor a where a.id = member for key share;
    insert into space_grant as g (space_id, actor_id, scopes)
    values (target_space, member, check_scopes(grant_access.scopes))
    on conflict (space_id, actor_id) do update set scopes = excluded.scopes, for_login = false, granted_at = now()
    returning g.scopes into granted;
    return granted;
end
$$;

comment on function textrawl.grant_access is
    'Replace the scopes of an actor in a space, and return the new scopes. The actor is created if it is new. The '
    'caller must be the owner or have a credential with the scope admin in the space. Errors: TR010, TR011 (access), '
    'TR020 (no such space), TR025 (not a valid name of an actor), TR026 (wrong scopes). '
    'Example: select textrawl.grant_access(actor => ''ana'', space => ''team'', scopes => array[''read'', ''write'']);';
