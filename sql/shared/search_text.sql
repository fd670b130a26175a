create function textrawl.search_text(input text, accents boolean default false) returns text
language sql immutable strict parallel safe
begin atomic
    select case when plain ~ '[a-z0-9][A-Z][a-z]|[A-Z]{2}[a-z]{2}' then plain || ' ' || textrawl.split_names(plain) else plain end
        || coalesce(' ' || nullif(case when input ~ '[0-9]' then textrawl.code_words(input) end, ''), '')
    from (select textrawl.plain_text(input, accents) as plain) as text;
end;

comment on function textrawl.search_text is
    'A text in the form that the text index stems: by default without accents, with identifiers and paths split into '
    'words, with other spellings of codes, and with Chinese, Japanese and Korean characters as pairs. '
    'Example: select textrawl.search_text(''getUserById in src/auth'');';
