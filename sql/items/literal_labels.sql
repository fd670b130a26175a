create function textrawl.literal_labels(pattern text[]) returns text[]
language sql immutable parallel safe
begin atomic
    select coalesce(pattern[:coalesce(array_position(pattern, '*') - 1, cardinality(pattern))], '{}');
end;

comment on function textrawl.literal_labels is
    'The labels of a pattern before its first *. '
    'Example: select textrawl.literal_labels(array[''users'', ''*'', ''notes'']);';
