create function textrawl.claim_words(language text) returns jsonb
language sql immutable strict parallel safe
begin atomic
    -- The function is immutable, so that a plan with a constant language calls it once in a session.
    with phrase as (
        select kind, split_part(phrase, '=', 1) as value,
            case when kind in ('%', '#') then split_part(phrase, '=', 2) else phrase end as folded
        from jsonb_each_text(textrawl.claim_lists(claim_words.language)) list (kind, phrases), string_to_table(phrases, ';') as phrase
        where kind not in ('ends', 'back', 'over', 'now', 'also', 'lent', 'the', 'idle')  -- see claim_marks()
    ), word as (
        select case when kind like 'one:%' then '~' else '' end || spelling as word, spelling = folded as exact,
            case when kind like 'one:%' then substr(kind, 5) when kind in ('%', '#') then kind || value else kind end as kind
        from phrase
        -- Call strip_accents() only for words with accents, because it would take most of the time.
        cross join lateral unnest(case when octet_length(folded) = char_length(folded) then array[folded]
            else array[folded, textrawl.strip_accents(folded)] end) form (spelling)
    )
    select jsonb_object_agg(word, kind) || jsonb_build_object(' marks', textrawl.claim_marks(claim_words.language)) from (
        -- Writers omit accents. A word that the list has without accents keeps its own kind (travaillé, travaille).
        (select distinct on (word) word, kind from word order by word, exact desc, kind)
        union all
        select distinct split_part(word, ' ', 1) || ' ', '' from word where word like '% %') as listed;
end;

comment on function textrawl.claim_words is
    'The words of a language by which disagreement() reads facts: {word: kind}. Kinds: - (says nothing), indefinite, not, '
    'past (ended), event, be, has, many (a verb that has several values), a name such as home or work (a verb that has '
    'one value; < after it: ended, ! before it: negative, n: before it: a noun), when (has one time), +x and !x '
    '(opposites), attr (a noun that has one value), id (a noun that a number identifies), @x (a preposition), # (a '
    'number), % (a part of a date). ~ before a word: a group of words of which only one is preferred. A space after a '
    'word: phrases begin with it. A space and marks: claim_marks(). Example: select * from jsonb_each_text(textrawl.claim_words(''english''));';
