create function textrawl.find_forbidden(statement text) returns text[]
language sql stable parallel safe
begin atomic
    select array_agg(distinct w.word order by w.word)
    from (
        -- Fold letters as Postgres folds names: only those of ASCII.
        select (regexp_matches(lower(statement collate "C"), 'u&"|[a-z_][a-z0-9_$]*', 'g'))[1] as word) w
    where w.word like 'pg\_%' and w.word not in ('pg_column_size', 'pg_size_pretty', 'pg_typeof')
       or w.word like '%\_to\_xml%'
       -- With U&"\0070g_sleep" a name is written so that nobody sees it. Every analyst can read the names of all actors.
       or w.word in ('u&"', 'actor', 'current_setting')
       or w.word not in ('clock_timestamp', 'gen_random_uuid', 'random', 'timeofday') and exists (
           select from pg_catalog.pg_proc p
           where p.proname = w.word and p.provolatile = 'v' and p.pronamespace <> 'textrawl'::regnamespace
             and p.prorettype <> 'tsm_handler'::regtype);
end;

comment on function textrawl.find_forbidden is
    'The words that read_rows() does not accept in a statement, or null: functions that do more than read, such as '
    'pg_sleep, set_config and query_to_xml, and names of what concerns the server. A word counts in a text too. '
    'Example: select textrawl.find_forbidden(''select pg_sleep(5)'');';
