create function textrawl.free_type(entity_type text, metadata jsonb) returns text
language sql immutable parallel safe
begin atomic
    select coalesce(metadata ->> 'type', entity_type);
end;

comment on function textrawl.free_type is
    'The type of an entity as the graph tools show it: the free type that a caller stated, or otherwise one of the '
    'seven types. '
    'Example: select name, textrawl.free_type(entity_type, metadata) from textrawl.entity;';
