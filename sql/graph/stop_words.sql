create function textrawl.stop_words(words text[]) returns text[]
language sql stable
begin atomic
    -- Use the lists of all languages of Postgres, so that the caller does not have to name a language.
    select coalesce(array_agg(word), '{}') from unnest(words) word
    where exists (
        select from pg_catalog.pg_ts_dict d
        where d.dictnamespace = 'pg_catalog'::regnamespace and d.dictname like '%\_stem'
          and ts_lexize(d.oid::regdictionary, word) = '{}');
end;

comment on function textrawl.stop_words is
    'The given lower-case words that are stop words in a language of Postgres. '
    'Example: select textrawl.stop_words(array[''with'', ''para'', ''anvil'']);';
