create function textrawl.words_query(space integer, words text) returns tsquery
language sql stable parallel safe
begin atomic
    select string_agg(quote_literal(lexeme), ' & ')::tsquery from (
        select '~s' || space::text as lexeme
        union all
        select word from unnest(tsvector_to_array(textrawl.language_document(textrawl.space_language(space), words))) word
        where word not like '=%') as lexemes;
end;

comment on function textrawl.words_query is
    'The condition that a fact of a space has all of these words. Example: select content from textrawl.fact '
    'where fts @@ textrawl.words_query(1, ''port 22'');';
