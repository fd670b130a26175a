create function textrawl.language_document(language regconfig, input text) returns tsvector
language plpgsql immutable strict parallel safe
as $$
declare
    plain   text;
    lexemes text[];
begin
    if language = 'pg_catalog.english'::regconfig then
        return to_tsvector('english', textrawl.search_text(input));
    end if;
    -- The document has the lexemes that word_lexemes() returns for each word. It takes less time to stem the whole text
    -- at once. Only documents of English spaces leave out stop words. Other documents keep them, because a text can be in
    -- another language than its space. For example, the English word war is a stop word in German.
    plain := textrawl.search_text(input, accents => true);
    lexemes := array(
        select '=' || word from unnest(tsvector_to_array(to_tsvector('simple', plain))) word
        where length(to_tsvector(language, word)) = 0) || tsvector_to_array(to_tsvector(language, plain));
    if octet_length(plain) > char_length(plain) then
        lexemes := array(
            select textrawl.strip_accents(lexeme) from unnest(lexemes) lexeme
            union
            select unnest(tsvector_to_array(to_tsvector(language, textrawl.strip_accents(plain)))));
    end if;
    return array_to_tsvector(lexemes);
end
$$;

comment on function textrawl.language_document is
    'The lexemes of a text, by the rules of a language. '
    'Example: select textrawl.language_document(''german'', ''mag grüne Äpfel'');';
