create function textrawl.union_of(one jsonb, other text[]) returns jsonb
language sql immutable
begin atomic
    select coalesce(jsonb_agg(listed.text order by listed.number), '[]')
    from (
        select both_lists.text, min(both_lists.number) as number
        from (
            select e.text, e.number from jsonb_array_elements_text(one) with ordinality e (text, number)
            union all
            select e.text, 1000000 + e.number from unnest(other) with ordinality e (text, number)
        ) both_lists
        group by both_lists.text
    ) listed;
end;

comment on function textrawl.union_of is
    'The texts of two lists, in the order of the lists, each text once. '
    'Example: select textrawl.union_of(''["a", "b"]'', array[''b'', ''c'']);';
