create function textrawl.has_outgrown_statistics(stored oid) returns boolean
language sql volatile
begin atomic
    -- VACUUM and CREATE INDEX also count the rows, but make no statistics.
    select least(c.reltuples, case when pg_stat_get_analyze_count(c.oid) + pg_stat_get_autoanalyze_count(c.oid) = 0 then 0 end)
        < (select max(rows) from unnest(array[100, 1000, 10000]) rows where rows <= pg_stat_get_live_tuples(c.oid))
    from pg_class c where c.oid = stored;
end;

comment on function textrawl.has_outgrown_statistics is
    'True if a table has reached 100, 1,000 or 10,000 rows since it was last analyzed; null if it has fewer rows. '
    'Example: select textrawl.has_outgrown_statistics(''textrawl.recalled''::regclass);';
