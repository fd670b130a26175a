-- What Postgres lets every login do that stores something or holds up all others, closed in this database:
-- large objects, messages in the log of changes, files of snapshots, advisory locks (which fill the table of
-- all locks). For a superuser; again, it changes nothing. docs/security.md says what this is for.
do $$
declare
    open text;
begin
    for open in
        select p.oid::regprocedure from pg_catalog.pg_proc p
        where p.pronamespace = 'pg_catalog'::regnamespace
          and (p.proname in ('lo_creat', 'lo_create', 'lo_from_bytea', 'lo_open', 'lo_put', 'lo_truncate', 'lo_truncate64',
                             'lowrite', 'lo_unlink', 'pg_logical_emit_message', 'pg_export_snapshot')
               or p.proname ~ '^pg_(try_)?advisory_')
          -- Its arguments are others from 17 on: pg_upgrade could not carry a right on it over.
          and (p.proname <> 'pg_logical_emit_message' or current_setting('server_version_num')::integer >= 170000)
          and has_function_privilege('public', p.oid, 'execute')
    loop
        execute format('revoke execute on function %s from public', open);
    end loop;
    -- A backup is one state of all tables.
    execute format('grant execute on function pg_catalog.pg_export_snapshot() to %s',
        (select d.datdba::regrole from pg_catalog.pg_database d where d.datname = current_database()));
end
$$;
