create function textrawl.names_entity(content text, name text) returns boolean
language sql immutable strict parallel safe
set search_path from current
begin atomic
    -- As whole words, as far as the database's locale knows letters beyond ASCII. One or two letters
    -- (A, me) are words of other texts more often than names; one ideograph has three bytes.
    select octet_length(textrawl.name_key(name)) >= 3 and textrawl.name_key(content) ~ ('(^|[^[:alnum:]])'
        || regexp_replace(textrawl.name_key(name), '([^[:alnum:][:space:]])', '\\\1', 'g') || '($|[^[:alnum:]])');
end;

comment on function textrawl.names_entity is
    'Whether a text names an entity, in any case, as whole words; no name of one or two letters. Example: select textrawl.names_entity(''We met ADA.'', ''Ada'');';
