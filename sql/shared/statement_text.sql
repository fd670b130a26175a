create function textrawl.statement_text(relation text, to_entity text) returns text
language sql immutable strict parallel safe
begin atomic
    select replace(textrawl.relation_key(relation), '_', ' ') || ' ' || to_entity;
end;

comment on function textrawl.statement_text is
    'The words of a relation, written like a fact about the entity that the relation starts at. '
    'Example: select textrawl.statement_text(''works_at'', ''Acme Corp'');';
