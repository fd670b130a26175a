create function textrawl.search_document(space integer, name text, content text) returns tsvector
language sql immutable strict parallel safe
begin atomic
    -- The name as it stands as well, so that The Who can be found. Search asks only whether a word is
    -- there: positions would double the size for nothing.
    select array_to_tsvector(array['~s' || space::text])
        || strip(to_tsvector('english', textrawl.search_text(content)))
        || strip(to_tsvector('english', plain))
        || strip(to_tsvector('simple', plain))
    from (select textrawl.search_text(name) as plain) as text;
end;

comment on function textrawl.search_document is
    'The words by which a fact is found, its entity''s name among them, and its space as ~s<space>. Example: select textrawl.search_document(1, ''Jeff'', ''prefers TypeScript'');';
