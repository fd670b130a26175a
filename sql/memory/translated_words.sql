create function textrawl.translated_words(plain text, name text, languages text[])
returns table (word text, words text[], term tsquery)
language plpgsql stable parallel safe rows 10
set search_path from current
as $$
#variable_conflict use_column
begin
    return query
    with token as materialized (
        select lexeme as token, null::text as parts
        from unnest(tsvector_to_array(to_tsvector('simple', regexp_replace(plain, name, ' ', 'g')))) as lexeme
        union
        select lower(match[1]), split_names(match[1]) from regexp_matches(plain, name, 'g') as match
    ), stopped as materialized (
        -- People also ask in English, whatever the language of a space is. The language of a query is the language in
        -- which most of its words are stop words. Only the stop words of this language do not count. For example, "the
        -- war" is English, so the word war counts, although it is a stop word in German.
        select array_agg(token) as tokens
        from (values ('english')) always(language) full join unnest(languages) with ordinality own(language, place) using (language),
             token
        where parts is null and (word_lexemes(language::regconfig, token))[1] = '=' || strip_accents(token)
        group by language order by count(*) desc, min(place), language limit 1
    ), stop_word as materialized (
        select coalesce((select tokens from stopped), '{}') as tokens
    ), counting as (
        select token, parts, false as stopped from token, stop_word where token <> all(tokens)
        union all
        -- A query that has only stop words can only mean a name, such as The Who.
        select token, parts, true from token, stop_word
        where not exists (select from token, stop_word where token <> all(tokens))
    ), stem as materialized (
        select token, parts, language, lexeme
        from counting, unnest(languages) language, unnest(word_lexemes(language::regconfig, token)) lexeme
        union
        select token, parts, null, strip_accents(token) from counting where stopped
    ), with_forms as (
        select token, parts, lexeme from stem
        union
        select token, parts, form.other
        from stem, lateral (
            -- `offset 0` makes Postgres look up each stem in the index. Otherwise it would read the whole table.
            select f.other from word_form f where f.language = stem.language and f.stem = stem.lexeme offset 0) form
        union
        select token, parts, form from stem, unnest(german_forms(lexeme)) form where language = 'german'
    )
    select min(token), words, term
    from (select token, array_agg(lexeme order by lexeme) as words, (string_agg(quote_literal(lexeme), '|' order by lexeme) || coalesce('|(' || (
            select string_agg('(' || forms || ')', '&') from (
                select string_agg(distinct quote_literal(part_lexeme), '|') as forms
                from unnest(tsvector_to_array(to_tsvector('simple', parts))) part, unnest(languages) language,
                     unnest(word_lexemes(language::regconfig, part)) part_lexeme
                group by part) part_forms) || ')', ''))::tsquery as term
          from with_forms group by token, parts) as found_word
    group by words, term;
end
$$;

comment on function textrawl.translated_words is
    'The result of query_words() if the languages are not only English. The parameter plain is the plain_text() of the '
    'query with its accents, and the parameter name is the pattern of names in camel case. '
    'Example: select * from textrawl.translated_words(''grüne Äpfel'', ''[A-Z]{9}'', array[''german'', ''english'']);';
