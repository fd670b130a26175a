create function textrawl.missing_words(
    query text, spaces integer[] default null, credential bytea default null,
    graphs text[] default '{}'  -- look into the documents of these graphs, too; null: of all
) returns table (word text)
language sql stable security definer
set search_path from current
begin atomic
    -- Look only at the spaces that the caller may read, and at the facts themselves, because statistics are older.
    with scope as materialized (
        select textrawl.readable_spaces(credential, missing_words.spaces)
            || array(select space_id from textrawl.readable_graphs(credential, graphs)) as ids
    ), marked as materialized (
        select string_agg(quote_literal('~s' || space), '|')::tsquery as mark, array_agg(space) as ids
        from scope, unnest(ids) as space
    ), asked as materialized (
        select c.question from marked m
        cross join lateral textrawl.name_caller(query, textrawl.search_languages(m.ids), m.ids, credential) c
    ), written as (
        select place, regexp_replace(text, '^[^[:alnum:].#+]+|(?:[''’]s)?[^[:alnum:]#+]*$', '', 'g') as text
        from regexp_split_to_table(btrim((select question from asked)), '\s+') with ordinality as words (text, place)
        where place <= 60
    )
    select w.text
    from written w
    cross join lateral (
        select bool_and(not exists (
                select from textrawl.observation o, marked m
                where o.fts @@ (m.mark && q.term) and (o.space_id = any(m.ids)) is true)) as missing
        from textrawl.query_words(w.text, textrawl.search_languages((select ids from marked))) q
        -- Leave out stop words, which count only if the query has no other word.
        where exists (select from textrawl.query_words((select question from asked), textrawl.search_languages((select ids from marked))) whole
                      where whole.term = q.term)) q
    where w.text <> '' and q.missing
    group by w.text
    order by min(w.place)
    limit 8;
end;

comment on function textrawl.missing_words is
    'Those words of a query that no fact has, of the facts that you can read, in the order of the query. With `graphs`, '
    'no document of these has them either. '
    'Errors: TR010, TR011 (access). '
    'Example: select word from textrawl.missing_words(''is there a zebra'');';
