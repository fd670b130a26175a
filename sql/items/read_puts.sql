create function textrawl.read_puts(puts json)
returns table (
    place bigint,        -- in the list, from 1
    namespace text[], key text,
    value json, metadata json,
    ttl interval, index jsonb,
    version integer
)
language sql immutable
begin atomic
    -- `->` reads every text of an object, and no text can hold U+0000. So its escape is a mark here: U+FFFF and 0. The
    -- escape counts only after an even number of backslashes. A U+FFFF of the list itself is followed by 1 meanwhile.
    with marked as (
        select e.place, e.member, e.member::text like E'%\uffff%' as is_marked
        from json_array_elements(case when strpos(puts::text, '\u0000') = 0 and strpos(puts::text, E'\uffff') = 0 then puts else
            regexp_replace(
                replace(puts::text, E'\uffff', E'\uffff1'), '(?<!\\)((?:\\\\)*)\\u0000', E'\\1\uffff0', 'g')::json
            end) with ordinality e (member, place))
    select m.place,
        array(
            select case when l.label not like E'%\uffff0%' then replace(l.label, E'\uffff1', E'\uffff') end
            from json_array_elements_text(m.member -> 'namespace') with ordinality l (label, number) order by l.number),
        case when m.member ->> 'key' not like E'%\uffff0%' then replace(m.member ->> 'key', E'\uffff1', E'\uffff') end,
        case when is_marked then replace(replace((m.member -> 'value')::text, E'\uffff0', '\u0000'), E'\uffff1', E'\uffff')::json
            else m.member -> 'value' end,
        coalesce(case when is_marked
            then replace(replace((m.member -> 'metadata')::text, E'\uffff0', '\u0000'), E'\uffff1', E'\uffff')::json
            else m.member -> 'metadata' end, '{}'),
        make_interval(secs => (m.member ->> 'ttl')::double precision), coalesce((m.member -> 'index')::jsonb, 'true'),
        (m.member ->> 'version')::integer
    from marked m;
end;

comment on function textrawl.read_puts is
    'The items of a list {namespace, key, value, metadata, ttl, index, version}. A key or label with U+0000 is null, because no '
    'item has it. Example: select key, value from textrawl.read_puts(''[{"namespace": ["users"], "key": "tea", "value": 1}]'');';
