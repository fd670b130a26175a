create function textrawl.list_grants(space text default null, credential bytea default null)
returns table (
    space_name text, actor_name text, scopes text[], granted_at timestamptz,
    login text  -- database login that acts as the actor
)
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    space_ids integer[];
begin
    if list_grants.space is not null then
        space_ids := array[find_space(list_grants.space)];
        perform require_admin(credential, space_ids[1]);
    elsif owns_memory() then
        select array_agg(s.id) into space_ids from space s;
    else
        select array_agg(r.space_id) into space_ids from access_rights(credential) r where 'admin' = any(r.scopes);
        if space_ids is null then
            perform refuse_access(credential, 'admin');
        end if;
    end if;
    return query
        select s.name, a.name, g.scopes, g.granted_at, a.role_name
        from space_grant g join space s on s.id = g.space_id join actor a on a.id = g.actor_id
        where g.space_id = any(space_ids)
        order by s.name, a.name;
end
$$;

comment on function textrawl.list_grants is
    'The grants of one space, or of all spaces that the caller administers. The owner administers all spaces. A '
    'credential administers the spaces in which it has the scope admin. Errors: TR010, TR011 (access), TR020 (no such '
    'space). '
    'Example: select * from textrawl.list_grants(space => ''team'');';
