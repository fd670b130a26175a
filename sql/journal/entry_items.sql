create function textrawl.entry_items(content text)
returns table (
    number bigint,    -- from 1
    kind text,        -- heading, bullet or paragraph
    text text,        -- with the lines that belong to it
    chat_ids text[]   -- from the tags [chat:id] of the text
)
language sql immutable
begin atomic
    with line as (
        select l.text, l.number, lag(l.text) over (order by l.number) as before
        from regexp_split_to_table(entry_items.content, '\n') with ordinality l (text, number)
    ), marked as (
        -- A bullet ends before the next bullet, heading or paragraph. Indented lines belong to their bullet.
        select line.text, line.number, count(*) filter (where
            line.text ~ '^([-*]\s|#{1,6}\s)' or line.before ~ '^#{1,6}\s'
            or line.text ~ '^\S' and coalesce(line.before ~ '^\s*$', true)
        ) over (order by line.number) as item
        from line
    ), item as (
        select marked.item,
            regexp_replace(string_agg(marked.text, E'\n' order by marked.number), '^\s+|\s+$', '', 'g') as text
        from marked group by marked.item
    )
    select row_number() over (order by item.item),
        case when item.text ~ '^#{1,6}\s' then 'heading' when item.text ~ '^[-*]\s' then 'bullet' else 'paragraph' end,
        item.text, array(select btrim(tag[1]) from regexp_matches(item.text, '\[chat:([^][]+)\]', 'g') tag)
    from item where item.text <> '';
end;

comment on function textrawl.entry_items is
    'The headings, bullets and paragraphs of a journal entry, each with its chat tags. '
    'Example: select kind, text, chat_ids from textrawl.entry_items(''- Talked about tea [chat:7]'');';
