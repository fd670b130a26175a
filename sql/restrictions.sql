-- Revoke rights that Postgres gives to every login of this database. A login could store data in large objects, in
-- messages of the write-ahead log and in snapshot files. It could block other sessions with advisory locks, because
-- these locks fill the shared lock table. Run this file as superuser. A second run changes nothing. See
-- docs/security.md.
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
          -- The arguments of pg_logical_emit_message changed in PostgreSQL 17, so pg_upgrade could not transfer a
          -- grant.
          and (p.proname <> 'pg_logical_emit_message' or current_setting('server_version_num')::integer >= 170000)
          and has_function_privilege('public', p.oid, 'execute')
    loop
        execute format('revoke execute on function %s from public', open);
    end loop;
    -- The owner of the database makes backups. A backup needs a snapshot to read all tables in the same state.
    execute format('grant execute on function pg_catalog.pg_export_snapshot() to %s',
        (select d.datdba::regrole from pg_catalog.pg_database d where d.datname = current_database()));
end
$$;
