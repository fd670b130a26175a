create function textrawl.named_entities(
    query text, spaces integer[] default null, credential bytea default null
) returns table (mention text)
language sql stable security definer
set search_path from current
begin atomic
    -- Look up every group of at most four adjacent words as a name. The number of look-ups depends only on the query,
    -- so a memory with many names costs nothing. No name begins or ends with a stop word, except a longer one (The Who).
    with scope as materialized (
        select textrawl.readable_spaces(credential, named_entities.spaces) as ids
    ), word as materialized (
        select place, text, to_tsvector('english', text) <> '' as content
        from regexp_split_to_table(btrim(query), '\s+') with ordinality as words (text, place)
        where place <= 60
    ), said as (
        select distinct regexp_replace(
            (select string_agg(w.text, ' ' order by w.place) from word w where w.place between f.place and f.place + n),
            '^["''“‘«(\[{¿¡]+|(?:[''’]s?)?["''”’»)\]}.,;:!?…]*$', '', 'g') as mention
        from word f
        cross join generate_series(0, 3) n
        join word l on l.place = f.place + n
        where l.content and (f.content or n > 0)
    )
    select s.mention
    from said s
    where (char_length(s.mention) > 2 or s.mention ~ '[+#]' or octet_length(s.mention) > char_length(s.mention))
      and (exists (
              select from textrawl.entity e
              where e.space_id = any((select ids from scope)::integer[]) and e.name_key = textrawl.name_key(s.mention))
           or exists (
              select from textrawl.entity_alias a
              where a.space_id = any((select ids from scope)::integer[]) and a.removed_at is null
                and a.name_key = textrawl.name_key(s.mention)))
    order by char_length(s.mention) desc, s.mention;
end;

comment on function textrawl.named_entities is
    'The names and aliases of entities that a query contains, as the query writes them, the longest first. A name of one '
    'or two letters counts only with a sign (C#). Errors: TR010, TR011 (access). '
    'Example: select mention from textrawl.named_entities(''What does Jeff use?'');';
