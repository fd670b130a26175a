create function textrawl.names_entity(content text, name text) returns boolean
language sql immutable strict parallel safe
begin atomic
    -- Match whole words only. The locale of the database decides which characters beyond ASCII are letters. Never match
    -- names of one or two letters (A, me), because in a text they are mostly ordinary words. The limit is in bytes,
    -- because a single ideograph, which has three bytes, can be a name.
    select octet_length(textrawl.name_key(name)) >= 3 and textrawl.name_key(content) ~ ('(^|[^[:alnum:]])'
        || regexp_replace(textrawl.name_key(name), '([^[:alnum:][:space:]])', '\\\1', 'g') || '($|[^[:alnum:]])');
end;

comment on function textrawl.names_entity is
    'True if a text contains the name of an entity as whole words, in upper or lower case. Always false for names of '
    'one or two letters. '
    'Example: select textrawl.names_entity(''We met ADA.'', ''Ada'');';
