create function textrawl.english_share(
    before timestamptz default 'infinity', credential bytea default null,
    out share double precision,  -- null: of fewer than three texts the language is known
    out model text               -- name of the active model
)
language sql stable security definer
set search_path from current
begin atomic
    with recent as (
        select left(o.content, 400) as content from textrawl.fact o
        where o.space_id = any(textrawl.readable_spaces(credential) || array(select g.space_id from textrawl.readable_graphs(credential) g))
          and o.created_at < before
        order by o.created_at desc limit 100
    ), spoken as (
        -- The language of a text is the one that has most of its stop words. Text without Latin letters is not English.
        select case when latin.letters * 2 < char_length(regexp_replace(content, '[[:space:][:punct:][:digit:]]+', '', 'g')) then false
            when counted.english <> counted.other then counted.english > counted.other end as english
        from recent
        cross join lateral (select char_length(regexp_replace(content, '[^[:alpha:]]|[^\u0001-\u024f]', '', 'g')) as letters) latin
        cross join lateral (
            select coalesce(max(known) filter (where dictionary = 'english'), 0) as english,
                coalesce(max(known) filter (where dictionary <> 'english'), 0) as other
            from (
                select dictionary, count(*) as known
                from unnest(tsvector_to_array(to_tsvector('simple', content))) word
                cross join unnest(array['english', 'german', 'french', 'spanish', 'portuguese', 'italian', 'dutch', 'danish', 'swedish',
                                        'norwegian', 'finnish', 'hungarian', 'turkish']) dictionary
                where ts_lexize((dictionary || '_stem')::regdictionary, word) = '{}'
                group by dictionary) stop_words) counted
    )
    select case when count(english) >= 3 then count(*) filter (where english)::double precision / count(english) end,
        (select m.name from textrawl.embedding_model m where m.status = 'active')
    from spoken;
end;

comment on function textrawl.english_share is
    'The share of English among the newest hundred texts that you can read, of those stored before a time, and the active model. '
    'Example: select share from textrawl.english_share();';
