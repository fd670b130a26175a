create function textrawl.relation_key(relation text) returns text
language sql immutable strict parallel safe
begin atomic
    select replace(textrawl.name_key(relation), ' ', '_');
end;

comment on function textrawl.relation_key is
    'The form in which relation types are stored: in lower case, with _ instead of white space. '
    'Example: select textrawl.relation_key(''Works at'');';
