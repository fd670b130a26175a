create function textrawl.compare_words(words text[], others text[]) returns double precision
language sql immutable parallel safe
begin atomic
    select case
        when p.differing <> 1 or cardinality(words) <> cardinality(others) then null
        -- One letter is missing or another one, or two letters changed places. In short words this says nothing.
        when substr(p.rest, 2) in (p.other_rest, substr(p.other_rest, 2)) or p.rest = substr(p.other_rest, 2)
            or left(p.rest, 2) = reverse(left(p.other_rest, 2)) and substr(p.rest, 3) = substr(p.other_rest, 3)
            then case when least(char_length(p.one), char_length(p.other)) >= 4 then 0.95 end
        when cardinality(words) > 1 and (starts_with(p.one, p.other) or starts_with(p.other, p.one)) then 0.8
        else 0 end
    from (
        select d.*, substr(d.one, c.common) as rest, substr(d.other, c.common) as other_rest
        from (select count(*) as differing, min(w.one) as one, min(w.other) as other
              from unnest(words, others) w (one, other) where w.one is distinct from w.other) d
        cross join lateral (
            select 1 + count(*)::integer as common from generate_series(1, char_length(d.one)) n
            where left(d.one, n) = left(d.other, n)) c) p;
end;

comment on function textrawl.compare_words is
    'How alike two names are that differ in one word: .95 for a slip of the pen, .8 for an initial or the beginning of the '
    'word, 0 for another word, and null if they do not differ in one word, or only in a letter of a short one. '
    'Example: select textrawl.compare_words(''{northwind,freight}'', ''{northwind,frieght}'');';
