create function textrawl.claim_words() returns jsonb
language sql immutable strict parallel safe
begin atomic
    -- The function has no argument, so that the planner evaluates it once in a session.
    with phrase as (
        select language, kind, kind in ('%', '#') as valued, phrase, split_part(phrase, '=', 1) as value,
            case when kind in ('%', '#') then split_part(phrase, '=', 2) else phrase end as folded
        from (values ('english', textrawl.english_claims()), ('german', textrawl.german_claims()),
                     ('french', textrawl.french_claims()), ('spanish', textrawl.spanish_claims())) list (language, kinds),
             jsonb_each_text(textrawl.fold_case(kinds::text)::jsonb) as kind (kind, phrases),
             string_to_table(phrases, ';') as phrase
    ), word as (
        select language, case when kind like 'one:%' then 'one' else 'kinds' end as part,
            spelling,
            case when kind like 'one:%' then substr(kind, 5) when valued then kind || value else kind end as kind,
            spelling = folded as exact
        from phrase cross join lateral (values (folded), (textrawl.strip_accents(folded))) form (spelling)
    ), listed as (
        -- Writers omit accents. A word that the list has without accents keeps its own kind (travaillé, travaille).
        select distinct on (language, part, spelling) language, part, spelling, kind
        from word order by language, part, spelling, exact desc, kind
    ), part as (
        select language, part, jsonb_object_agg(spelling, kind) as words from listed group by language, part
        union all
        select language, 'heads', jsonb_object_agg(distinct split_part(spelling, ' ', 1), true)
        from listed where spelling like '% %' group by language
    )
    select jsonb_object_agg(language, parts)
    from (select language, jsonb_object_agg(part, words) as parts from part group by language) as known;
end;

comment on function textrawl.claim_words is
    'The words of english_claims() and of the other languages, by language: {kinds: {word: kind}, one: {word: group}, '
    'heads: the first words of phrases}. Kinds: - (says nothing), not, past (ended), event, be, has, many (a verb that '
    'has several values), a name such as home or work (a verb that has one value; < after it: ended, ! before it: '
    'negative, n: before it: a noun), when (has one time), +x and !x (opposites), attr (a noun that has one value), '
    'id (a noun that a number identifies), @x (a preposition), # (a number), % (a part of a date). '
    'Group: of words that only one of can be preferred.';
