create function textrawl.exact_words(content text) returns text[]
language sql immutable strict parallel safe
begin atomic
    -- 1,299.50 and 1.299,50 are one number, and so are 12995 and 12,995.00.
    select nullif(array_agg(distinct regexp_replace(regexp_replace(regexp_replace(
        word, '(\d)[.,](?=\d{3}(?!\d))', '\1', 'g'), '(\d),(\d\d?)$', '\1.\2'), '\.00?$', '')), '{}')
    from regexp_split_to_table(lower(content), '[\s"“”„«»()<>;!?]+') split,
        lateral trim(both $$.,:'€$£$$ from split) as word
    where word ~ '[0-9@/]' and char_length(word) > 2;
end;

comment on function textrawl.exact_words is
    'The words of a text with a digit, @ or / that a fact should have as a whole: mail addresses, numbers, versions, prices, paths. '
    'Example: select textrawl.exact_words(''costs 1,299.50 euros'') -> ''{1299.50}'';';
