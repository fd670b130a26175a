create function textrawl.query_phrases(query text, languages text[] default array['english']) returns text[]
language sql stable strict parallel safe
begin atomic
    with word as materialized (
        select place, text as word, (
            select bool_and(to_tsvector(language::regconfig, text) <> '') from unnest(languages) as language) as content
        from regexp_split_to_table(lower(query), '[^[:alnum:]]+') with ordinality as words (text, place)
    )
    select array_agg(one.word || ' ' || next.word)
    from word as one join word as next on next.place = one.place + 1
    where one.content and next.content;
end;

comment on function textrawl.query_phrases is
    'The pairs of adjacent words of a query, in lower case, without pairs that have a stop word of one of the languages. '
    'Null: the query has no such pair. '
    'Example: select textrawl.query_phrases(''Which guitar strings does Ada use?'');';
