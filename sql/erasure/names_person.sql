create function textrawl.names_person(content text, pattern text) returns boolean
language sql immutable parallel safe
begin atomic
    -- In the text of JSON a line break is an escape, whose letter would join the word after it.
    select coalesce(textrawl.name_key(regexp_replace(content, '\\+([nrtbf]|u00[0-9a-f]{2})', ' ', 'g')) ~ pattern, false);
end;

comment on function textrawl.names_person is
    'True if a text, also the text of JSON, matches a pattern of person_pattern(). '
    'Example: select textrawl.names_person(''We met ADA.'', textrawl.person_pattern(array[''Ada'']));';
