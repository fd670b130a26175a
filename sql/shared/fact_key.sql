create function textrawl.fact_key(content text) returns text
language sql immutable strict parallel safe
begin atomic
    -- Case and white space can change the meaning: -n and -N are two flags. But models write a sentence with or without
    -- a capital and a full stop. Keep the case of two words, which can be a name, and the two dots of a path (..).
    select case when text ~ '^\S+\s+\S+\s+\S' and word !~ '[0-9]' and textrawl.lower_letters(substr(word, 2)) = substr(word, 2)
        then textrawl.lower_letters(left(word, 1)) || substr(text, 2) else text end
    from regexp_replace(regexp_replace(normalize(content, nfc), '^\s+|\s+$', '', 'g'), '(?<=[^\s./\\…])[.。．｡।॥۔።։។။]$', '') as text,
        substring(text from '^\S+') as word;
end;

comment on function textrawl.fact_key is
    'The form in which facts are compared: the text itself, without a final full stop. If it has three words or more, '
    'and the first word has no other capital and no digit, the first letter is in lower case. '
    'Example: select textrawl.fact_key(''Prefers green tea.'');';
