create function textrawl.word_lexemes(language regconfig, word text) returns text[]
language plpgsql immutable strict parallel safe
as $$
declare
    lexemes text[] := tsvector_to_array(to_tsvector(language, word));
    plain   text   := textrawl.strip_accents(word);
begin
    -- Mark a stop word with =, which no word contains. Otherwise the stop word could equal a stem. For example, the
    -- German word war is a stop word, and it is also the stem of Ware.
    if cardinality(lexemes) = 0 then
        return array['=' || plain];
    end if;
    -- Stemmers need the accents (French mangée, Spanish comió), but writers may omit accents. So return both forms.
    if plain <> word then
        lexemes := array(select textrawl.strip_accents(lexeme) from unnest(lexemes) lexeme)
            || tsvector_to_array(to_tsvector(language, plain));
    end if;
    return lexemes;
end
$$;

comment on function textrawl.word_lexemes is
    'The lexemes by which search finds a word, by the rules of a language. A stop word has one lexeme: = and the word. '
    'Example: select textrawl.word_lexemes(''spanish'', ''comió'');';
