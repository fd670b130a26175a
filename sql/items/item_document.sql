create function textrawl.item_document(space integer, language regconfig, words text) returns tsvector
language sql immutable parallel safe
begin atomic
    select array_to_tsvector(array['~s' || space::text]) || strip(textrawl.language_document(language, words));
end;

comment on function textrawl.item_document is
    'The words by which search finds an item, of its item_text(). The lexeme ~s<space> stands for the space. '
    'Example: select textrawl.item_document(1, ''english'', ''green tea'');';
