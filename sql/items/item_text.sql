create function textrawl.item_text(value jsonb, index jsonb) returns text
language sql immutable parallel safe
begin atomic
    with recursive node (place, name, value) as (
        select array[p.number::integer, s.number::integer], null::text, s.value
        from jsonb_array_elements_text(
            case when jsonb_typeof(index) = 'array' then index when index = 'true' then '["$"]'::jsonb else '[]'::jsonb end)
            with ordinality p (path, number)
        cross join lateral jsonb_path_query(value, textrawl.item_jsonpath(p.path)) with ordinality s (value, number)
        union all
        select node.place || child.number::integer, child.name, child.value
        from node cross join lateral (
            select e.key as name, e.value, e.ordinality as number
            from jsonb_each(case when jsonb_typeof(node.value) = 'object' then node.value end) with ordinality e
            union all
            select node.name, e.value, e.ordinality
            from jsonb_array_elements(case when jsonb_typeof(node.value) = 'array' then node.value end) with ordinality e) child
    )
    select coalesce(left(string_agg(coalesce(node.name || ': ', '') || (node.value #>> '{}'), E'\n' order by node.place), 100000), '')
    from node where jsonb_typeof(node.value) in ('string', 'number') and node.value #>> '{}' <> '';
end;

comment on function textrawl.item_text is
    'The text by which search finds a value: its texts and numbers with their names, at most 100,000 characters. `index` '
    'is true, false, or the paths that count. '
    'Example: select textrawl.item_text(''{"food": "pizza", "city": "Riga"}'', ''["food"]'');';
