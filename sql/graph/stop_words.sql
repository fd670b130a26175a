create function textrawl.stop_words(words text[]) returns text[]
language sql stable
set search_path from current
begin atomic
    -- The lists of every language that Postgres has, so that nobody has to say which one is spoken.
    select coalesce(array_agg(word), '{}') from unnest(words) word
    where exists (
        select from pg_catalog.pg_ts_dict d
        where d.dictnamespace = 'pg_catalog'::regnamespace and d.dictname like '%\_stem'
          and ts_lexize(d.oid::regdictionary, word) = '{}');
end;

comment on function textrawl.stop_words is
    'Those of some lower-case words that say nothing by themselves in some language. Example: select textrawl.stop_words(array[''with'', ''para'', ''anvil'']);';
