create function textrawl.bind_login(actor text, role_name text) returns boolean
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    reason text;
    somebody integer;
begin
    perform require_owner();
    somebody := enrol_actor(bind_login.actor);
    if bind_login.role_name is not null then
        -- What is granted to a login that servers share, everybody would have without a token.
        select case
            when not exists (select from pg_roles where rolname = bind_login.role_name) then 'there is no such login'
            when exists (select from pg_namespace where nspname = 'textrawl'
                         and pg_has_role(bind_login.role_name, nspowner, 'member')) then 'it owns the memory'
            when pg_has_role(bind_login.role_name, 'textrawl_app', 'member') then 'servers log in as that'
            when exists (select from pg_roles where rolname = bind_login.role_name and rolbypassrls) then 'row-level security does not bind it'
            when exists (select from actor a where a.role_name = bind_login.role_name and a.id <> somebody) then 'it acts as another'
        end into reason;
    end if;
    if reason is not null then
        raise exception using errcode = 'TR027', message = format('the login %s cannot act as %s: %s', bind_login.role_name, bind_login.actor, reason),
            detail = format('%s: %s', bind_login.role_name, reason);
    end if;
    update actor a set role_name = bind_login.role_name where a.id = somebody;
    return coalesce(pg_has_role(bind_login.role_name, 'textrawl_analyst', 'usage'), false);
end
$$;

comment on function textrawl.bind_login is
    'Lets a database login, such as an analyst''s in psql, see what is granted to an actor (null: no login any more); tells whether the login has the rights of textrawl_analyst, without which it sees nothing. Errors: TR013 not the owner, TR025 no name for an actor, TR027 a login that cannot. Example: select textrawl.bind_login(actor => ''ana'', role_name => ''ana_psql'');';
