create function textrawl.quote_passage(
    content text, query text, language regconfig,
    longest integer default 400  -- characters
) returns table (passage text, skipped integer)
language sql stable strict parallel safe rows 1
begin atomic
    with asked as materialized (
        select tsvector_to_array(to_tsvector(language, textrawl.search_text(query))) as words
    ),
    unit as materialized (
        select row_number() over (order by line.number, part.number) as number, line.number as line, text,
            -- The first lines name the document and its day, as each answer does anyway.
            line.number = 1 and text like '#%' or line.number = 2 and text ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2} · ' as titles,
            sum(char_length(text) + 1) over (order by line.number, part.number) as upto,
            array(
                select unnest(tsvector_to_array(to_tsvector(language, textrawl.search_text(text))))
                intersect select unnest(asked.words)) as words
        from asked cross join regexp_split_to_table(content, '\n') with ordinality line (whole, number)
        cross join lateral regexp_split_to_table(line.whole, '(?<=[.!?。！？])\s+') with ordinality part (text, number)
        where btrim(text) <> ''
    ),
    start as (
        select * from unit where not titles and words <> '{}'
        union all
        (select * from unit where not titles and not exists (select from unit where not titles and words <> '{}') order by number limit 1)
    ),
    best as (
        select s.number as first, w.last
        from start s
        cross join lateral (
            select max(u.number) as last, count(distinct word) as covered, count(word) as said
            from unit u left join lateral unnest(u.words) word on true
            where u.number >= s.number and (u.number = s.number or u.upto - s.upto + char_length(s.text) < longest)) w
        order by w.covered desc, w.said desc, s.number limit 1
    )
    select case when min(u.number) > min(other.first) then '… ' else '' end
            || left(ltrim(string_agg(case when u.line = before.line then ' ' else e'\n' end || btrim(u.text), '' order by u.number), e' \n'), longest)
            || case when max(u.number) < min(other.last) or sum(char_length(u.text)) > longest then ' …' else '' end,
        min(u.line)::integer - 1
    from best b
    join unit u on u.number between b.first and b.last
    left join unit before on before.number = u.number - 1
    cross join (select min(number) filter (where not titles) as first, max(number) as last from unit) other
    having count(*) > 0;
end;

comment on function textrawl.quote_passage is
    'The sentences of a chunk that have most words of a question, and the number of lines before them. If no sentence has one, '
    'the first sentences of the chunk. '
    'Example: select passage from textrawl.quote_passage(''Tea is hot. Cats sleep.'', ''do cats sleep?'', ''english'');';
