create function textrawl.create_analyst(login text, actor text, spaces text[], verifier text default null) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    place text;
    known text[];
begin
    perform require_owner();
    if login !~ '^[a-z_][a-z0-9_]{0,62}$' or login ~ '^pg_' then
        raise exception using errcode = 'TR070', message = 'a login''s name has 1 to 63 of a-z, 0-9 and _, no digit first', detail = left(login, 200);
    end if;
    begin
        execute format('create role %I login connection limit 5 password %L in role textrawl_analyst', login, verifier);
        -- A slip is stopped and a runaway statement ends. Limits that nobody can lift are the grants.
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
            null;  -- For a superuser to set, where another makes logins: docs/security.md.
        end;
    exception
        when duplicate_object then
            raise exception using errcode = 'TR071', message = format('there is a login %s already', login), detail = login;
        when insufficient_privilege then
            raise exception using errcode = 'TR072', message = 'this login may not make logins', detail = login;
    end;
    -- The actor first, then spaces in one order: what others grant them meanwhile waits at the actor.
    perform bind_login(create_analyst.actor, login);
    for place in select distinct unnest(spaces) order by 1 loop
        -- Somebody who writes by a token keeps what they may.
        known := (select g.scopes from space_grant g join actor a on a.id = g.actor_id
                  where g.space_id = find_space(place) and a.name = create_analyst.actor);
        if known @> array['read'] then
            continue;
        end if;
        perform grant_access(create_analyst.actor, place, coalesce(known, '{}') || array['read']);
        update space_grant g set for_login = true
        from actor a where a.id = g.actor_id and a.name = create_analyst.actor and g.space_id = find_space(place);
    end loop;
end
$$;

comment on function textrawl.create_analyst is
    'Makes a database login that reads the given spaces in SQL and changes nothing: a member of textrawl_analyst with limits of its own, bound to an actor. The verifier is a password as SCRAM-SHA-256 keeps it; null: none, for logins that the server lets in by other means. For the owner of the memory, if it may make roles. Errors: TR013 not the owner, TR020 no such space, TR070 no name for a login, TR071 it exists, TR072 may not make logins. Example: select textrawl.create_analyst(''ana_psql'', actor => ''ana'', spaces => array[''default'']);';
