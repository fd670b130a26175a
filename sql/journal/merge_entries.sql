create function textrawl.merge_entries(existing text, incoming text) returns text
language sql immutable
begin atomic
    with old as materialized (
        select * from textrawl.entry_items(existing)
    ), known as materialized (
        select array(select unnest(o.chat_ids) from old o) as chats, array(select o.text from old o) as texts,
            exists (select from old o where o.text ~ '^#\s') as titled,
            (select o.kind from old o order by o.number desc limit 1) as last
    ), new as (
        select n.*, n.kind <> 'heading' and case when n.chat_ids = '{}' then n.text <> all(known.texts)
            else not n.chat_ids && known.chats end as fresh
        from textrawl.entry_items(incoming) n cross join known
    ), in_section as (
        select s.*, bool_or(s.fresh) over (partition by s.section) as needed
        from (select new.*, count(*) filter (where new.kind = 'heading') over (order by new.number) as section from new) s
    ), added as (
        -- A heading comes along if something below it is new. The title comes along only if the day has none.
        select s.number, s.kind, s.text, lag(s.kind, 1, known.last) over (order by s.number) as before
        from in_section s cross join known
        where s.fresh or s.kind = 'heading' and s.needed and (s.number > 1 or s.text !~ '^#\s') and s.text <> all(known.texts)
    ), joined as (
        select string_agg(case when a.before = 'bullet' and a.kind = 'bullet' then E'\n' else E'\n\n' end || a.text, ''
                          order by a.number) as text
        from added a
    ), title as (
        select max(new.text) filter (where new.number = 1 and new.text ~ '^#\s' and not known.titled) as text
        from new cross join known
    )
    select case when title.text is null and joined.text is null then existing
        else concat_ws(E'\n\n', title.text, regexp_replace(existing, '\s+$', '') || coalesce(joined.text, '')) end
    from title cross join joined;
end;

comment on function textrawl.merge_entries is
    'Add the new items of another text of the day to the existing text. A bullet with chat tags is new if the existing '
    'text has none of these tags. Anything else is new if the existing text does not have it in the same words. The '
    'existing text keeps its words. If it has no title, it gets the title of the other text. Merging the same text '
    'again changes nothing. '
    'Example: select textrawl.merge_entries(''- Tea [chat:7]'', ''- Tea again [chat:7]'' || chr(10) || ''- Rain [chat:8]'');';
