create function textrawl.journal_names(space integer, query text) returns text[]
language sql stable
begin atomic
    with word as (
        select w as word from unnest(tsvector_to_array(to_tsvector('simple', textrawl.search_text(query)))) w
        where char_length(w) > 2 and w !~ '^[0-9]+$' and w <> 'journal' and ts_lexize('english_stem', w) <> '{}'
    )
    select array(
        select e.name from textrawl.entity e
        where e.space_id = journal_names.space
          and e.fts @@ (select string_agg(quote_literal(word), '|')::tsquery from word)
          -- Leave out the entities that exist only for journal entries.
          and e.name_key not like 'journal %'
        order by char_length(e.name), e.name limit 20);
end;

comment on function textrawl.journal_names is
    'Names of up to 20 entities that share a word with a query. search_journal() looks for them in entries. '
    'Example: select textrawl.journal_names(1, ''tea with Ben'');';
