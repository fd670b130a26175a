create function textrawl.reflection_document(content text) returns tsvector
language sql immutable parallel safe
begin atomic
    select to_tsvector('english', textrawl.search_text(content));
end;

comment on function textrawl.reflection_document is
    'Return the words by which a reflection is found. Example: select textrawl.reflection_document(''Ada explains well.'');';
