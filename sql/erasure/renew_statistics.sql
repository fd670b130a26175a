create function textrawl.renew_statistics(
    tables text[] default null  -- only these tables; null: all
) returns integer
language plpgsql volatile
set search_path from current
as $$
declare
    stored  regclass;
    cleared record;
    renewed integer := 0;
    filled  boolean;
begin
    for stored in
        select distinct c.oid::regclass
        from pg_class named join pg_class c on c.oid = stored_table(named.relname)
        where named.relnamespace = 'textrawl'::regnamespace and named.relkind in ('r', 'v') and c.relkind = 'r'
          and (tables is null or named.relname = any(tables))
    loop
        -- ANALYZE does not read what this transaction has deleted.
        execute format('analyze %s', stored);
        renewed := renewed + 1;
        execute format('select exists (select from %s)', stored) into filled;
        continue when filled or to_regproc('pg_clear_attribute_stats') is null;
        -- ANALYZE keeps the statistics of a table that has no rows. PostgreSQL 18 and later can clear them.
        for cleared in
            select c.relnamespace::regnamespace::text as place, c.relname::text as name, a.attname::text as attribute
            from pg_class c
            join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
            where c.oid = stored or c.oid in (select i.indexrelid from pg_index i where i.indrelid = stored)
        loop
            execute 'select pg_clear_attribute_stats($1, $2, $3, false)' using cleared.place, cleared.name, cleared.attribute;
        end loop;
    end loop;
    return renewed;
end
$$;

comment on function textrawl.renew_statistics is
    'Replace the statistics of the tables, which keep values of rows that are gone, and return the number of tables. '
    'PostgreSQL 16 and 17 keep the statistics of a table that has no rows. Only the owner can do this.';
