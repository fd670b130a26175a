create function textrawl.search_document(
    space integer, language regconfig, name text, content text, said_at timestamptz default null
) returns tsvector
language sql immutable parallel safe
begin atomic
    -- Index the name a second time with its stop words, so that a search finds "The Who". Drop the positions, because
    -- search does not use them and they would double the size.
    select array_to_tsvector(array['~s' || space::text])
        || case when language = 'pg_catalog.english'::regconfig
            then strip(to_tsvector('english', textrawl.search_text(content))) || strip(to_tsvector('english', plain))
                || strip(to_tsvector('english', coalesce(textrawl.date_words(said_at), '')))
            else textrawl.language_document(language, concat_ws(' ', content, textrawl.date_words(said_at)))
                || textrawl.language_document(language, name) end
        || strip(to_tsvector('simple', plain))
    from (select textrawl.search_text(name) as plain) as text;
end;

comment on function textrawl.search_document is
    'The words by which search finds a fact: the words of its content, of the names of its entity (see document_names) and of the day on '
    'which the fact was said (if given). The lexeme ~s<space> stands for the space. '
    'Example: select textrawl.search_document(1, ''english'', ''Jeff'', ''prefers TypeScript'');';
