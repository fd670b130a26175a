create function textrawl.read_document(
    kind text,  -- identity or journal
    path text, credential bytea default null, space integer default null
) returns table (path text, content text, number integer, created_at timestamptz, modified_at timestamptz, modified_by text)
language sql stable security definer rows 1
set search_path from current
begin atomic
    select d.path, d.content, d.number, d.created_at, d.modified_at, d.modified_by
    from textrawl.current_documents(
        textrawl.graph_space(credential, space), read_document.kind, read_document.path) d
    where d.kind in ('identity', 'journal');
end;

comment on function textrawl.read_document is
    'An identity file or a journal entry by its path, with its text and the number of its version. No row if there is '
    'none. Errors: TR010, TR011 (access), TR060 (the space is a graph). '
    'Example: select content from textrawl.read_document(''identity'', ''self/my_identity.md'');';
