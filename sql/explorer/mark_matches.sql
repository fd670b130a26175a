create function textrawl.mark_matches(
    query text,
    facts uuid[], texts text[], spaces text[],  -- of each match its fact, its text, and the name of its space
    credential bytea default null
) returns table (
    fact uuid,
    marked text,  -- the text with the characters 2 and 3, which no stored text has, around each word of the query
    kind text, path text  -- of the document that the fact is a part of; null: of none
)
language sql stable security definer
set search_path from current
begin atomic
    with asked as materialized (
        -- The lexemes of the query in the language of each space, as a query for any of them.
        select s.id, s.name, s.language::regconfig as language, (
            select string_agg(quote_literal(w.word), ' | ')::tsquery
            from unnest(tsvector_to_array(to_tsvector(s.language::regconfig, query))) w (word)) as words
        from textrawl.access_rights(credential) r join textrawl.space s on s.id = r.space_id
        where 'read' = any(r.scopes) and s.name = any(spaces)
    )
    select m.fact, case when a.words is null then m.text
            else ts_headline(a.language, m.text, a.words, E'StartSel=\x02, StopSel=\x03, HighlightAll=true') end, d.kind, d.path
    from unnest(facts, texts, spaces) m (fact, text, space)
    join asked a on a.name = m.space
    left join textrawl.fact o on o.space_id = a.id and o.id = m.fact and o.whole is not null
    left join textrawl.document d on d.space_id = o.space_id and d.id = o.whole;
end;

comment on function textrawl.mark_matches is
    'The texts that a search found, with marks around the words of the query, in each form that the language of the space '
    'gives them, and the documents that they are parts of. A space that you cannot read gives no row. Errors: none. '
    'Example: select marked from textrawl.mark_matches(''who drinks teas'', array[gen_random_uuid()], array[''drank green '
    'tea''], array[''default'']);';
