create function textrawl.claim_marks(language text) returns jsonb
language sql immutable strict parallel safe
begin atomic
    with phrase as (
        select kind, split_part(phrase, ' ', 1) as word, case when phrase like '% … %' then 6 else 0 end as gap,
            ltrim(substr(phrase, char_length(split_part(phrase, ' ', 1)) + 1), ' …') as rest
        from jsonb_each_text(textrawl.claim_lists(claim_marks.language)) list (mark, phrases), string_to_table(phrases, ';') as phrase
        -- What gives back ends, too.
        cross join lateral unnest(case when mark = 'back' then '{ends,back}'::text[] else array[mark] end) kind
        where mark in ('ends', 'back', 'over', 'now', 'also', 'lent', 'the', 'idle')
    )
    select jsonb_object_agg(word, found) from (
        select word, jsonb_agg(jsonb_build_object('kind', kind, 'rest', rest, 'more', more, 'gap', gap) order by gap, more) as found
        from phrase cross join lateral cardinality(string_to_array(rest, ' ')) more group by word) as listed;
end;

comment on function textrawl.claim_marks is
    'The words and phrases of a language by which read_ending() finds what ends a fact, by their first word: {word: [{kind, '
    'rest: its other words, more: their number, gap: how many words can come before them (gave … back)}]}. Kinds: ends (sold, quit, '
    'brought back), back (brought back), over (something may be over: found, retired), now (a change: now, moved), also (it stays open: '
    'also, perhaps), lent (is to be given back: lent, rents), the (for a known thing: the, his), idle (says only when or how). '
    'Example: select textrawl.claim_marks(''english'') -> ''sold'';';
