-- Revoke what Postgres lets every login do in this database although it stores data or blocks everybody: large objects,
-- messages in the write-ahead log, snapshot files, and advisory locks, which fill the shared lock table. Run it as
-- superuser; a second run changes nothing. See docs/security.md.
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
          -- Its arguments changed in version 17, so pg_upgrade could not transfer a grant on it.
          and (p.proname <> 'pg_logical_emit_message' or current_setting('server_version_num')::integer >= 170000)
          and has_function_privilege('public', p.oid, 'execute')
    loop
        execute format('revoke execute on function %s from public', open);
    end loop;
    -- Backups need snapshots: a backup is one consistent state of all tables.
    execute format('grant execute on function pg_catalog.pg_export_snapshot() to %s',
        (select d.datdba::regrole from pg_catalog.pg_database d where d.datname = current_database()));
end
$$;
