create function textrawl.order_coherence(space integer) returns real
language sql stable
begin atomic
    with newest as (
        select row_number() over (order by ordinal) as place, tsvector_to_array(ts_delete(fts, '~s' || space_id)) as words
        from (
            select space_id, ordinal, fts from textrawl.fact
            where space_id = order_coherence.space order by ordinal desc limit 1000) f
    ), pair as (
        select distance, cardinality(one.words) + cardinality(other.words) as words,
            (select count(*) from unnest(one.words) word where word = any(other.words))::float8 as shared
        from newest one
        cross join unnest(array[1, 50]) distance
        join newest other on other.place = one.place + distance
    )
    -- With fewer than 150 pairs, the two averages would depend too much on chance.
    select case when count(*) filter (where distance = 50) >= 150 then
        avg(shared / nullif(words - shared, 0)) filter (where distance = 1)
        / nullif(avg(shared / nullif(words - shared, 0)) filter (where distance = 50), 0) end
    from pair;
end;

comment on function textrawl.order_coherence is
    'A ratio that shows whether the order of the facts in a space has a meaning. It divides the average share of '
    'common words of two consecutive facts by that of two facts that are 50 places apart. The function reads the newest 1,000 '
    'facts. The ratio is near 1 if the order has no meaning, and above 1.3 in conversations. Null: the space has fewer '
    'than 200 facts. '
    'Example: select textrawl.order_coherence(1);';
