create function textrawl.claim_patterns() returns jsonb
language sql immutable strict parallel safe
begin atomic
    select jsonb_object_agg(predicate, pattern)
    from (
        select ltrim(rtrim(regexp_replace(kind, '^n:', ''), '<'), '!+') as predicate,
            '\m(' || string_agg(distinct split_part(word, ' ', 1), '|') || ')\M' as pattern
        from unnest(array['english', 'german', 'french', 'spanish']) language, jsonb_each_text(textrawl.claim_words(language)) list (word, kind)
        where word !~ '^~| $' and kind !~ '^[-@#%]|^(indefinite|not|past|event|be|has|many|when|attr|id|)$'
        group by 1) as known;
end;

comment on function textrawl.claim_patterns is
    'For each predicate of read_claim() that several words express, a regular expression for these words: {predicate: '
    'pattern}. The pattern finds facts that are worth comparing. '
    'Example: select textrawl.claim_patterns() ->> ''home'';';
