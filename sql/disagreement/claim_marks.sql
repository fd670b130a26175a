create function textrawl.claim_marks(language text) returns jsonb
language sql immutable strict parallel safe
begin atomic
    with phrase as (
        select kind, phrase, split_part(phrase, ' ', 1) as word, cardinality(string_to_array(phrase, ' ')) as words,
            nullif(split_part(phrase, ' … ', 2), '') as rest, cardinality(string_to_array(nullif(split_part(phrase, ' … ', 2), ''), ' ')) as more
        from jsonb_each_text(textrawl.claim_lists(claim_marks.language)) list (mark, phrases), string_to_table(phrases, ';') as phrase
        -- What gives back ends, too.
        cross join lateral unnest(case when mark = 'back' then '{ends,back}'::text[] else array[mark] end) kind
        where mark in ('ends', 'back', 'over', 'now', 'also', 'lent', 'the', 'idle')
    )
    select jsonb_object_agg(word, found) from (
        select word, jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
            'kind', kind, 'phrase', phrase, 'words', words, 'rest', rest, 'more', more))) as found
        from phrase group by word) as listed;
end;

comment on function textrawl.claim_marks is
    'The words and phrases of a language by which read_ending() finds what ends a fact, by their first word: {word: [{kind, phrase, '
    'words: their number, rest: the words after a gap of up to six words (gave … back), more: their number}]}. Kinds: ends (sold, quit, '
    'brought back), back (brought back), over (something may be over: found, retired), now (a change: now, moved), also (it stays open: '
    'also, perhaps), lent (is to be given back: lent, rents), the (for a known thing: the, his), idle (says only when or how). '
    'Example: select textrawl.claim_marks(''english'') -> ''sold'';';
