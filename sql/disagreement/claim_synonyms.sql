create function textrawl.claim_synonyms(accents boolean default true) returns jsonb
language sql immutable strict parallel safe
begin atomic
    select jsonb_object_agg(predicate, words)
    from (
        select case kind when 'job' then 'work' else ltrim(rtrim(regexp_replace(kind, '^n:', ''), '<'), '!+') end as predicate,
            string_agg(distinct case when accents or kind = 'not' then word else textrawl.strip_accents(word) end, ' ') as words
        from unnest(array['english', 'german', 'french', 'spanish']) language, jsonb_each_text(textrawl.claim_words(language)) list (word, kind)
        where word !~ '^~| ' and kind !~ '^[-@#%]|^(indefinite|past|event|be|has|many|when|attr|id|)$'
        group by 1) as known;
end;

comment on function textrawl.claim_synonyms is
    'The words that express each predicate of read_claim(), and negation: {predicate or not: words}. Facts with one of these words are worth '
    'comparing. If accents is false, only negations have accents. Example: select textrawl.claim_synonyms() ->> ''home'';';
