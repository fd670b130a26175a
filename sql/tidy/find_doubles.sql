create function textrawl.find_doubles(
    space integer, max_rows integer default 200, credential bytea default null
) returns table (one uuid, other uuid, cosine real)
language plpgsql stable
set search_path from current
set jit = off
as $$
#variable_conflict use_column
begin
    return query
    with pair as (
        select n.one, n.other, n.cosine from near_facts(0.9, spaces => array[space], credential => credential) n
        union all
        -- The same words in another spelling, also without vectors.
        select a.id, b.id, null
        from fact a join fact b on b.space_id = a.space_id and b.entity_id = a.entity_id and b.fts = a.fts
            and (a.created_at, a.id) < (b.created_at, b.id)
        where a.space_id = find_doubles.space and a.content_hash <> b.content_hash
          and is_valid(a.valid_from, a.valid_until, a.closed_at) and is_valid(b.valid_from, b.valid_until, b.closed_at)
          and not exists (select from dismissal d where d.space_id = a.space_id and d.kind = 'close'
                            and d.one = least(a.id, b.id) and d.other = greatest(a.id, b.id))
    ), judged as (
        select a.id as older, b.id as newer, max(p.cosine) as cosine,
            -- The longer fact says more. Of two that are equally long, the newer one stays.
            char_length(a.content) > char_length(b.content) as older_stays
        from pair p
        join fact a on a.space_id = find_doubles.space and a.id = p.one
        join fact b on b.space_id = find_doubles.space and b.id = p.other
        join space s on s.id = find_doubles.space
        cross join lateral (select text_words(a.content) as words offset 0) one
        cross join lateral (select text_words(b.content) as words offset 0) other
        -- Facts of two periods can both be true, and a part of a text is no fact of its own.
        where a.whole is null and b.whole is null and states_the_same(a.content, b.content)
          and a.valid_until is not distinct from b.valid_until
          -- In a short fact, one other word means something else: before or after, her son or her daughter.
          and (least(cardinality(one.words), cardinality(other.words)) >= 3 and (one.words <@ other.words or one.words @> other.words)
               or jaccard(one.words, other.words) >= 0.4
                  and least(cardinality(topic_words(a.content, s.language)), cardinality(topic_words(b.content, s.language))) >= 6)
        group by a.id, b.id, a.content, b.content
    )
    select case when j.older_stays then j.newer else j.older end, case when j.older_stays then j.older else j.newer end, j.cosine
    from judged j order by j.cosine desc nulls first, j.older, j.newer limit max_rows;
end
$$;

comment on function textrawl.find_doubles is
    'Valid facts of one entity that say the same in other words: their vectors are near, one has all words of the other or '
    'long ones share 40%, and states_the_same(). Pairs that somebody dismissed are left out. `one` should end, `other` stays. '
    'Example: select * from textrawl.find_doubles(1);';
