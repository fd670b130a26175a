create function textrawl.item_jsonpath(path text) returns jsonpath
language sql immutable parallel safe
begin atomic
    select ('$' || coalesce(string_agg(
        case when step.name <> '' then '.' || to_json(step.name)::text else '' end || step.places, '' order by part.number), ''))::jsonpath
    from regexp_split_to_table(regexp_replace(path, '^\$\.?', ''), '\.') with ordinality part (text, number)
    cross join lateral (select regexp_replace(part.text, '(\[(\*|\d{1,6})\])*$', '') as name) head
    cross join lateral (select head.name, substr(part.text, char_length(head.name) + 1) as places) step;
end;

comment on function textrawl.item_jsonpath is
    'The jsonpath of a path of names, such as user.tags[*]. $ is the whole value. '
    'Example: select jsonb_path_query(''{"user": {"tags": ["a", "b"]}}'', textrawl.item_jsonpath(''user.tags[*]''));';
