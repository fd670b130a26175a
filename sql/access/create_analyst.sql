create function textrawl.create_analyst(login text, actor text, spaces text[], verifier text default null) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    space_name text;
    granted text[];
begin
    perform require_owner();
    if login !~ '^[a-z_][a-z0-9_]{0,62}$' or login ~ '^pg_' then
        raise exception using errcode = 'TR070',
            message = 'the name of a login has 1 to 63 characters of a-z, 0-9 and _ and does not begin with a digit',
            detail = left(login, 200);
    end if;
    begin
        execute format('create role %I login connection limit 5 password %L in role textrawl_analyst', login, verifier);
        -- These settings stop mistakes and runaway statements. The login can change the settings. Only grants are hard
        -- limits.
        execute format('alter role %I set default_transaction_read_only = on', login);
        execute format('alter role %I set statement_timeout = ''60s''', login);
        execute format('alter role %I set work_mem = ''32MB''', login);
        execute format('alter role %I set lock_timeout = ''5s''', login);
        execute format('alter role %I set idle_in_transaction_session_timeout = ''5min''', login);
        execute format('alter role %I set search_path = textrawl, %I', login,
            (select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'));
        begin
            execute format('alter role %I set temp_file_limit = ''512MB''', login);
        exception when insufficient_privilege then
            null;  -- Only a superuser can set this, see docs/security.md.
        end;
    exception
        when duplicate_object then
            raise exception using errcode = 'TR071', message = format('the login %s exists already', login), detail = login;
        when insufficient_privilege then
            raise exception using errcode = 'TR072', message = 'this login may not create logins', detail = login;
    end;
    -- Lock the actor first, then the spaces in one order. Concurrent grants then wait for the actor and cannot
    -- deadlock.
    perform bind_login(create_analyst.actor, login);
    for space_name in select distinct unnest(spaces) order by 1 loop
        -- An actor that also writes with a token keeps its other scopes.
        granted := (select g.scopes from space_grant g join actor a on a.id = g.actor_id
                  where g.space_id = find_space(space_name) and a.name = create_analyst.actor);
        if granted @> array['read'] then
            continue;
        end if;
        perform grant_access(create_analyst.actor, space_name, coalesce(granted, '{}') || array['read']);
        update space_grant g set for_login = true
        from actor a where a.id = g.actor_id and a.name = create_analyst.actor and g.space_id = find_space(space_name);
    end loop;
end
$$;

comment on function textrawl.create_analyst is
    'Create a database login that reads the given spaces with SQL. The login is a member of textrawl_analyst and acts '
    'as an actor. The verifier is the hash (SCRAM-SHA-256) of its password. It can be null if the database server '
    'does not ask for passwords. Errors: TR013 (not the owner), TR020 (no such space), TR070 (not a valid name of a '
    'login), TR071 (the login exists already), TR072 (not allowed to create logins). '
    'Example: select textrawl.create_analyst(''ana_psql'', actor => ''ana'', spaces => array[''default'']);';
