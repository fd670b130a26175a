create function textrawl.query_words(query text, languages text[] default array['english'])
returns table (
    word text,
    words text[],  -- its lexemes: stems in each language, and forms with other stems
    term tsquery   -- any of them
)
language plpgsql stable parallel safe rows 10
set search_path from current
as $$
#variable_conflict use_column
declare
    number text := substring(query from '(?:\+|\(?\m0)[0-9 ()/.-]{7,}[0-9]');
    -- A telephone number is one word, in whatever groups it is written.
    plain text := plain_text(
        coalesce(replace(query, number, phone_digits(number)), query), accents => languages <> '{english}');
    name  text := '\w*(?:[a-z0-9][A-Z][a-z]|[A-Z]{2}[a-z]{2})\w*';
begin
    if languages <> '{english}' then
        return query select t.* from translated_words(plain, name, languages) t;
        return;
    end if;
    return query
    with english_word as (
        select lexeme as word, quote_literal(lexeme)::tsquery as term
        from unnest(tsvector_to_array(to_tsvector('english', regexp_replace(plain, name, ' ', 'g')))) as lexeme
        union
        -- A name in camel case can be written as one word or as its parts. A fact must then have all the parts. With
        -- only one part, JavaScript would also find TypeScript, because both contain Script.
        select min(whole), (quote_literal(min(whole)) || '|(' || string_agg(quote_literal(part), '&') || ')')::tsquery
        from regexp_matches(plain, name, 'g') as match,
             unnest(tsvector_to_array(to_tsvector('english', match[1]))) as whole,
             unnest(tsvector_to_array(to_tsvector('english', split_names(match[1])))) as part
        group by match[1]
    ), query_word as (
        select word, term from english_word
        union all
        -- A query that has only stop words can only mean a name, such as The Who.
        select lexeme, quote_literal(lexeme)::tsquery
        from unnest(tsvector_to_array(to_tsvector('simple', plain))) as lexeme
        where not exists (select from english_word)
    )
    -- A search for went also finds go. All forms of a word share one frequency.
    select query_word.word, form.words, case when other is null then term else term || other::tsquery end
    from query_word cross join lateral (
        select string_agg(quote_literal(f.other), '|') as other, array_agg(f.other) || query_word.word as words
        from word_form f where f.language = 'english' and f.stem = query_word.word) form;
end
$$;

comment on function textrawl.query_words is
    'The words of a query that count, with the lexemes that match each in documents of these languages. '
    'Example: select * from textrawl.query_words(''Welche Bücher mag Jeff'', array[''german'']);';
