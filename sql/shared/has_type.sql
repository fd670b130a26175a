create function textrawl.has_type(entity_type text, metadata jsonb, types text[]) returns boolean
language sql immutable parallel safe
begin atomic
    select types is null or entity_type = any(types) or lower(textrawl.free_type(entity_type, metadata)) = any(types);
end;

comment on function textrawl.has_type is
    'True if an entity is of one of these types: of the seven, or words in lower case that a caller gave as its type. '
    'Example: select name from textrawl.entity where textrawl.has_type(entity_type, metadata, array[''person'', ''team'']);';
