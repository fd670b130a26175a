create function textrawl.refresh_planner_statistics() returns integer
language plpgsql volatile security definer
set search_path from current
as $$
declare
    grown regclass;
    analyzed integer := 0;
begin
    -- Autovacuum looks only once a minute. Until then, the planner takes a new table for almost empty.
    for grown in
        select stored.oid
        from pg_class named join pg_class stored on stored.oid = stored_table(named.relname)
        where named.relnamespace = 'textrawl'::regnamespace and named.relkind in ('r', 'v') and stored.relkind = 'r'
          and has_outgrown_statistics(stored.oid)
    loop
        -- Only one session analyzes a table. A session that comes later finds the new statistics.
        begin
            execute format('lock table %s in share update exclusive mode nowait', grown);
        exception when lock_not_available then
            continue;
        end;
        perform pg_stat_clear_snapshot();
        if has_outgrown_statistics(grown) then
            execute format('analyze %s', grown);
            analyzed := analyzed + 1;
        end if;
    end loop;
    return analyzed;
end
$$;

comment on function textrawl.refresh_planner_statistics is
    'Analyze each table that has reached 100, 1,000 or 10,000 rows since it was last analyzed, and return their '
    'number. Autovacuum analyzes larger tables in time. Servers call this function in the background. '
    'Example: select textrawl.refresh_planner_statistics();';
