create function textrawl.item_field(fields jsonb, path text) returns jsonb
language sql immutable parallel safe
begin atomic
    select coalesce(place.part #> string_to_array(place.name, '.'), place.part -> place.name, 'null')
    from (select case when path like 'metadata.%' then fields -> 'metadata' else fields -> 'value' end as part,
              regexp_replace(path, '^(metadata|\$)\.', '') as name) place;
end;

comment on function textrawl.item_field is
    'The part of a value that a path of a filter names, such as user.name, or metadata.source for the metadata; $. before a path means the value. JSON null if there is none. '
    'Example: select textrawl.item_field(''{"value": {"user": {"name": "Ada"}}}'', ''user.name'');';
