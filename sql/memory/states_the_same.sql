create function textrawl.states_the_same(one text, other text) returns boolean
language sql immutable strict parallel safe
set search_path from current
begin atomic
    -- Embeddings that average words do not see order (Berlin to Paris, Paris to Berlin), and hardly
    -- see numbers (version 16, version 17) or a "not". A fact dropped as a duplicate is a fact lost,
    -- so all three must agree: the words that both use come in the same order, and what only one
    -- of them says is no number, no negation and no proper name.
    with word as (
        select side, position, match[1] as spelt, lower(match[1]) as word
        from (values (1, one), (2, other)) text (side, content),
             regexp_matches(content, '[[:alnum:]]+(?:[.,:/-][[:alnum:]]+)*', 'g') with ordinality found (match, position)
    ), marked as (
        select side, position, spelt, word,
               bool_or(side = 1) over same and bool_or(side = 2) over same as shared
        from word window same as (partition by word)
    )
    select not coalesce(bool_or(not shared and (
               spelt ~ '[0-9]' or (position > 1 and spelt ~ '^[[:upper:]]')
               or word in ('no', 'not', 't', 'never', 'without', 'cannot', 'nor', 'neither', 'none',
                           'nobody', 'nothing', 'hardly', 'stopped', 'quit', 'former', 'formerly'))), false)
       and coalesce(array_agg(word order by position) filter (where shared and side = 1), '{}')
         = coalesce(array_agg(word order by position) filter (where shared and side = 2), '{}')
    from marked;
end;

comment on function textrawl.states_the_same is
    'Whether two facts whose vectors agree may count as one: same order of words, same numbers, names and negations. Example: select textrawl.states_the_same(''moved from Berlin to Paris'', ''moved from Paris to Berlin'');';
