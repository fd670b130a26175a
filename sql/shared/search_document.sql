create function textrawl.search_document(space integer, name text, content text) returns tsvector
language sql immutable strict parallel safe
begin atomic
    -- Index the name a second time with its stop words, so that The Who can be found. Drop the positions: search does
    -- not use them, and they would double the size.
    select array_to_tsvector(array['~s' || space::text])
        || strip(to_tsvector('english', textrawl.search_text(content)))
        || strip(to_tsvector('english', plain))
        || strip(to_tsvector('simple', plain))
    from (select textrawl.search_text(name) as plain) as text;
end;

comment on function textrawl.search_document is
    'The words by which search finds a fact: its content, the name of its entity, and its space as ~s<space>. '
    'Example: select textrawl.search_document(1, ''Jeff'', ''prefers TypeScript'');';
