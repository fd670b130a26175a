create function textrawl.word_similarities(space integer, memories uuid[], threshold double precision, groups integer[])
returns table (one uuid, other uuid, similarity double precision)
language sql stable rows 1000
begin atomic
    with member as materialized (
        select m.id, m.place, coalesce(m.in_group, 0) as in_group,
            textrawl.text_words(textrawl.memory_text(space, m.id)) as words
        from unnest(memories, groups) with ordinality m(id, in_group, place)
    ), frequency as materialized (
        select word, count(*) as memories from member, unnest(member.words) word group by word
    ), ranked as materialized (
        select m.place, m.in_group, cardinality(m.words) as size, word,
            row_number() over (partition by m.place order by f.memories, word) as rank
        from member m, unnest(m.words) word join frequency f using (word)
    ), rare as materialized (
        -- Of two texts with this similarity, the rarest words of one text contain a word of the other. So only these
        -- words select pairs.
        select * from ranked r where threshold > 0 and r.rank <= r.size - ceil(threshold * r.size) + 1
    ), candidate as (
        select a.place as one, b.place as other
        from rare a join rare b on b.word = a.word and b.in_group = a.in_group and b.place > a.place
        where least(a.size, b.size) >= threshold * greatest(a.size, b.size)
        group by a.place, b.place
        union all
        select a.place, b.place from member a join member b on b.in_group = a.in_group and b.place > a.place
        where threshold <= 0
    )
    select p.one, p.other, p.similarity from (
        select a.id as one, b.id as other, coalesce(c.common / nullif(cardinality(a.words) + cardinality(b.words) - c.common, 0), 0) as similarity
        from candidate join member a on a.place = candidate.one join member b on b.place = candidate.other
        cross join lateral (
            select count(*)::double precision as common from unnest(a.words) word where word = any(b.words)) c
        offset 0) p
    where p.similarity >= threshold;
end;

comment on function textrawl.word_similarities is
    'Pairs of memories in a space by the words of three or more characters that they share: the number of common words '
    'divided by the number of all words. Only pairs with at least this similarity.';
