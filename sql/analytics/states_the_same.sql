create function textrawl.states_the_same(one text, other text) returns boolean
language sql immutable strict parallel safe
begin atomic
    -- A model that averages word vectors ignores the order of words (Berlin to Paris, Paris to Berlin). The vectors of
    -- two texts hardly differ if only a number differs (version 16, version 17), or if only one text has a "not" or a
    -- word that the model does not know. A fact that is dropped as a duplicate is lost, so be strict. The words that both
    -- texts contain must have the same order. A word that only one text contains must not have a digit, a capital at its
    -- beginning or a character beyond ASCII, and must not say that something is not, or is no longer. Characters beyond
    -- ASCII are not examined further, because their classes depend on the locale.
    with word as (
        select side, position, match[1] as spelt, textrawl.fold_case(match[1]) as word
        from (values (1, one), (2, other)) text (side, content),
             -- The first three are apostrophes and become straight ones. The others become spaces.
             regexp_matches(translate(content, '‘’ʼ“”„«»–—…', '''''''        '),
                 '(?:[a-zA-Z0-9]|[^\u0001-\u007f])+(?:[.,:/-](?:[a-zA-Z0-9]|[^\u0001-\u007f])+)*', 'g')
                 with ordinality found (match, position)
    ), marked as (
        select side, position, spelt, word,
               bool_or(side = 1) over same and bool_or(side = 2) over same as shared
        from word window same as (partition by word)
    )
    select not coalesce(bool_or(not shared and (
               spelt ~ '[0-9]|[^\u0001-\u007f]|^[A-Z]'
               -- A word ends at an apostrophe, so "t" is the rest of "don't".
               or word in ('no', 'not', 't', 'never', 'without', 'cannot', 'nor', 'neither', 'none',
                           'nobody', 'nothing', 'hardly', 'stopped', 'quit', 'former', 'formerly'))), false)
       and coalesce(array_agg(word order by position) filter (where shared and side = 1), '{}')
         = coalesce(array_agg(word order by position) filter (where shared and side = 2), '{}')
    from marked;
end;

comment on function textrawl.states_the_same is
    'True if two facts with almost equal vectors state the same. Both facts must have the same numbers, names, '
    'negations and order of words. '
    'Example: select textrawl.states_the_same(''moved from Berlin to Paris'', ''moved from Paris to Berlin'');';
