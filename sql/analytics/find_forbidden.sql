create function textrawl.find_forbidden(statement text) returns text[]
language sql stable parallel safe
begin atomic
    select array_agg(distinct w.word order by w.word)
    from (
        -- Fold letters as Postgres folds names: only those of ASCII. The longest of these forms counts.
        select (regexp_matches(lower(statement collate "C"), 'u&"|[a-z_][a-z0-9_$]*|version"?\s*(?:\(|/\*|--)|'
            'textrawl"?\s*\.?\s*(?:"?actor\M|/\*|--)', 'g'))[1] as word) w
    where w.word like 'pg\_%' and w.word not in ('pg_column_size', 'pg_size_pretty', 'pg_typeof')
       or w.word like any(array['%\_to\_xml%', '%regrole%', '%aclitem%', 'has\_%\_privilege', 'inet\_client\_%', 'inet\_server\_%'])
       or w.word in ('acldefault', 'current_catalog', 'current_database', 'current_setting', 'information_schema',
                     'session_user', 'shobj_description', 'system_user')
       -- With U&"\0070g_sleep" a name is written so that nobody sees it. A word such as version is also one of texts.
       or w.word !~ '^[a-z0-9_$]+$'
       or w.word not in ('clock_timestamp', 'gen_random_uuid', 'random', 'timeofday') and exists (
           select from pg_catalog.pg_proc p
           where p.proname = w.word and p.provolatile = 'v' and p.pronamespace <> 'textrawl'::regnamespace
             and p.prorettype <> 'tsm_handler'::regtype);
end;

comment on function textrawl.find_forbidden is
    'The words that read_rows() does not accept in a statement, or null: functions that do more than read, such as '
    'pg_sleep, set_config and query_to_xml, and names of what concerns the server. A word counts in a text too. '
    'Example: select textrawl.find_forbidden(''select pg_sleep(5)'');';
