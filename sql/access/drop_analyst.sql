create function textrawl.drop_analyst(login text, out spaces text[])
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    owned text;
begin
    perform require_owner();
    perform from list_analysts() l where l.login = drop_analyst.login;
    if not found then
        raise exception using errcode = 'TR073', message = 'this is not the login of an analyst',
            detail = coalesce(left(drop_analyst.login, 200), '');
    end if;
    select string_agg(pg_describe_object(d.classid, d.objid, d.objsubid), ', ') into owned
    from pg_shdepend d
    where d.refclassid = 'pg_authid'::regclass and d.refobjid = (select r.oid from pg_roles r where r.rolname = drop_analyst.login)
      and d.deptype = 'o' and d.dbid in (0, (select b.oid from pg_database b where b.datname = current_database()));
    if owned is not null then
        raise exception using errcode = 'TR074', message = 'the login owns objects',
            detail = left(format('%s: %s', drop_analyst.login, owned), 500);
    end if;
    begin
        execute format('alter role %I nologin', drop_analyst.login);
        -- The creator of a login can make itself a member of the login. A member can end the sessions of the login.
        if not pg_has_role(drop_analyst.login, 'usage') then
            execute format('grant %I to current_user with inherit true', drop_analyst.login);
        end if;
        perform pg_terminate_backend(p.pid) from pg_stat_activity p where p.usename = drop_analyst.login;
        -- The login owns nothing here, so this only revokes its grants.
        execute format('drop owned by %I', drop_analyst.login);
        execute format('drop role %I', drop_analyst.login);
    exception
        when insufficient_privilege then
            raise exception using errcode = 'TR072', message = 'this login may not drop logins', detail = drop_analyst.login;
        when dependent_objects_still_exist then
            get stacked diagnostics owned = pg_exception_detail;
            raise exception using errcode = 'TR074', message = 'the login owns objects or has rights in another database',
                detail = left(format('%s: %s', drop_analyst.login, owned), 500);
    end;
    with unbound as (
        update actor a set role_name = null where a.role_name = drop_analyst.login returning a.id
    ), revoked as (
        delete from space_grant g using unbound
        where g.actor_id = unbound.id and g.for_login and g.scopes = array['read'] returning g.space_id
    ), narrowed as (
        update space_grant g set scopes = array_remove(g.scopes, 'read'), for_login = false, granted_at = now()
        from unbound where g.actor_id = unbound.id and g.for_login and g.scopes <> array['read'] returning g.space_id
    )
    select array_agg(s.name order by s.name) into drop_analyst.spaces
    from (select space_id from revoked union all select space_id from narrowed) affected join space s on s.id = affected.space_id;
    drop_analyst.spaces := coalesce(drop_analyst.spaces, '{}');
end
$$;

comment on function textrawl.drop_analyst is
    'Drop the login of an analyst and end its sessions. Revoke the scope read in the spaces in which create_analyst() '
    'granted it, and return the names of these spaces. Other grants of the actor stay. Errors: TR013 (not the owner), TR072 (not allowed '
    'to drop logins), TR073 (no such analyst), TR074 (the login owns objects, or has rights in another database). '
    'Example: select textrawl.drop_analyst(''ana_psql'');';
