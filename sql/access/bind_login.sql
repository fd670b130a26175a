create function textrawl.bind_login(actor text, role_name text) returns boolean
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    reason text;
    bound_actor integer;
begin
    perform require_owner();
    bound_actor := enrol_actor(bind_login.actor);
    if bind_login.role_name is not null then
        -- Servers share a login. If an actor had this login, all callers would have the rights of the actor, even
        -- without a token.
        select case
            when not exists (select from pg_roles where rolname = bind_login.role_name) then 'this login does not exist'
            when exists (select from pg_namespace where nspname = 'textrawl'
                         and pg_has_role(bind_login.role_name, nspowner, 'member')) then 'it owns the memory'
            when pg_has_role(bind_login.role_name, 'textrawl_app', 'member') then 'servers use it'
            when exists (select from pg_roles where rolname = bind_login.role_name and rolbypassrls)
                then 'it bypasses row-level security'
            when exists (select from actor a where a.role_name = bind_login.role_name and a.id <> bound_actor)
                then 'it is assigned to another actor'
        end into reason;
    end if;
    if reason is not null then
        raise exception using errcode = 'TR027',
            message = format('the login %s cannot act as %s: %s', bind_login.role_name, bind_login.actor, reason),
            detail = format('%s: %s', bind_login.role_name, reason);
    end if;
    update actor a set role_name = bind_login.role_name where a.id = bound_actor;
    return coalesce(pg_has_role(bind_login.role_name, 'textrawl_analyst', 'usage'), false);
end
$$;

comment on function textrawl.bind_login is
    'Let a database login read the spaces that an actor can read, for example with psql. If role_name is null, the '
    'actor loses its login. Return false if the login lacks the rights of textrawl_analyst. Errors: TR013 (not the owner), TR025 (not '
    'a valid name of an actor), TR027 (this login cannot act as an actor). '
    'Example: select textrawl.bind_login(actor => ''ana'', role_name => ''ana_psql'');';
