create function textrawl.session_anchors(
    repository text, anchors text[],
    space integer default null, evidence text default null  -- null: not those of documents
) returns text[]
language sql stable
begin atomic
    select case when anchors is null then null
        when space is not null and anchors[1] like 'document %' and pg_input_is_valid(split_part(anchors[1], ' ', 2), 'uuid')
            then nullif(array_remove(array[textrawl.document_change(space, anchors[1], evidence)], null), '{}')
        when split_part(repository, '#', 1) = any(textrawl.session_repositories('{}', null)) then anchors end;
end;

comment on function textrawl.session_anchors is
    'The anchors of a fact of this repository that the session can compare with its files, or what became of the document '
    'of a fact: see document_change(). Null: it has none, the document still says it, or its files '
    'are those of another repository than the session''s, also if a question names that one. '
    'Example: select textrawl.session_anchors(''github.com/acme/api'', array[''src/parse.py 0123456789abcdef'']);';
