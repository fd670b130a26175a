create function textrawl.search_text(input text) returns text
language sql immutable strict parallel safe
begin atomic
    select case when plain ~ '[a-z0-9][A-Z][a-z]|[A-Z]{2}[a-z]{2}' then plain || ' ' || textrawl.split_names(plain) else plain end
    from (select textrawl.plain_text(input) as plain) as text;
end;

comment on function textrawl.search_text is
    'A text as the full-text index reads it: no accents, identifiers and paths as words, CJK as pairs. '
    'Example: select textrawl.search_text(''getUserById in src/auth'');';
