create function textrawl.matches_filter(fields jsonb, filter jsonb) returns boolean
language sql immutable parallel safe
begin atomic
    select not exists (
        select from textrawl.filter_conditions(filter) c
        cross join lateral (select textrawl.item_field(fields, c.path) as found) f
        where case c.operator
            when '$eq' then f.found <> c.value
            when '$ne' then f.found = c.value
            when '$in' then not exists (
                select from jsonb_array_elements(case when jsonb_typeof(c.value) = 'array' then c.value end) one where one.value = f.found)
            else coalesce(not case when jsonb_typeof(f.found) <> jsonb_typeof(c.value) then false
                when jsonb_typeof(c.value) = 'number' then case c.operator
                    when '$gt' then f.found::numeric > c.value::numeric when '$gte' then f.found::numeric >= c.value::numeric
                    when '$lt' then f.found::numeric < c.value::numeric else f.found::numeric <= c.value::numeric end
                when jsonb_typeof(c.value) = 'string' then case c.operator
                    when '$gt' then f.found #>> '{}' collate "C" > c.value #>> '{}' when '$gte' then f.found #>> '{}' collate "C" >= c.value #>> '{}'
                    when '$lt' then f.found #>> '{}' collate "C" < c.value #>> '{}' else f.found #>> '{}' collate "C" <= c.value #>> '{}' end
                else false end, true) end);
end;

comment on function textrawl.matches_filter is
    'True if the value and metadata of an item meet all conditions of a filter. A field that is missing counts as null, '
    'and $gt, $gte, $lt and $lte compare numbers or texts. '
    'Example: select textrawl.matches_filter(''{"value": {"age": 36}}'', ''{"age": {"$gt": 30}}'');';
