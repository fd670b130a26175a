create function textrawl.fact_key(content text) returns text
language sql immutable strict parallel safe
set search_path from current
begin atomic
    select regexp_replace(textrawl.name_key(content), '[\s.!。…]+$', '');
end;

comment on function textrawl.fact_key is
    'The form in which facts are compared word for word: as names, and without final punctuation. Example: select textrawl.fact_key(''Likes tea.'');';
