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
    terms text[];  -- for each name in camel case, the condition that a document has it
    name  text := '\w*(?:[a-z0-9][A-Z][a-z]|[A-Z]{2}[a-z]{2})\w*';
begin
    if languages <> '{english}' then
        return query select t.* from translated_words(plain, name, languages) t;
        return;
    end if;
    words := tsvector_to_array(to_tsvector('english', regexp_replace(plain, name, ' ', 'g')));
    if plain ~ name then
        -- A name in camel case can be written as one word or as its parts. A fact must then have all the parts. With
        -- only one part, JavaScript would also find TypeScript, because both contain Script.
        select array_agg(camel.whole) || words, array_agg(camel.term) into words, terms
        from (
            select distinct min(whole) as whole, quote_literal(min(whole)) || '|(' || string_agg(quote_literal(part), '&') || ')' as term
            from regexp_matches(plain, name, 'g') as match,
                 unnest(tsvector_to_array(to_tsvector('english', match[1]))) as whole,
                 unnest(tsvector_to_array(to_tsvector('english', split_names(match[1])))) as part
            group by match[1]) camel;
    end if;
    if words = '{}' then
        -- A query that has only stop words can only mean a name, such as The Who.
        words := tsvector_to_array(to_tsvector('simple', plain));
    end if;
    -- A search for went also finds go. All forms of a word share one frequency.
    return query
    select w.word, form.words, (coalesce(w.term, quote_literal(w.word)) || coalesce('|' || form.other, ''))::tsquery
    from unnest(words, terms) w (word, term) cross join lateral (
        select string_agg(quote_literal(f.other), '|') as other, array_agg(f.other) || w.word as words
        from word_form f where f.language = 'english' and f.stem = w.word) form;
end
$$;

comment on function textrawl.query_words is
    'The words of a query that count, with the lexemes that match each in documents of these languages. '
    'Example: select * from textrawl.query_words(''Welche Bücher mag Jeff'', array[''german'']);';
