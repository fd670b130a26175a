create function textrawl.claim_languages() returns jsonb
language sql immutable parallel safe
begin atomic
    with phrase as (
        select sign, kind in ('ends', 'back', 'over', 'now', 'lent') as marks,
            -- Of a phrase, the first word counts.
            split_part(case when kind in ('%', '#') then split_part(phrase, '=', 2) else phrase end, ' ', 1) as word
        from (values ('english', 'e'), ('german', 'd'), ('french', 'f'), ('spanish', 's'), ('portuguese', 'p'), ('italian', 'i'))
                 spoken (language, sign),
             jsonb_each_text(textrawl.claim_lists(language)) list (kind, phrases), string_to_table(phrases, ';') phrase
        where kind <> 'also'
    )
    select jsonb_object_agg(spelt, letters) from (
        select spelt, string_agg(letter, '') as letters
        from (select distinct spelt collate "C" as spelt, letter collate "C" as letter
              from phrase, unnest(case when marks then array[sign, upper(sign)] else array[sign] end) letter,
                   unnest(case when octet_length(word) = char_length(word) then array[word]
                       else array[word, textrawl.strip_accents(word)] end) form (spelt)) written
        group by spelt) as counted;
end;

comment on function textrawl.claim_languages is
    'The languages that have each word of claim_words(), one letter a language, and a capital if the word is one of '
    'claim_marks(). read_claim() decides by it in which language a fact is, and whether to call read_ending(). '
    'Example: select textrawl.claim_languages() ->> ''sold'';';
