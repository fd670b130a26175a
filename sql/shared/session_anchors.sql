create function textrawl.session_anchors(repository text, anchors text[]) returns text[]
language sql stable
begin atomic
    select case when anchors is not null
        and split_part(repository, '#', 1) = any(textrawl.session_repositories('{}', null)) then anchors end;
end;

comment on function textrawl.session_anchors is
    'The anchors of a fact of this repository that the session can compare with its files. Null: it has none, or its files '
    'are those of another repository than the session''s, also if a question names that one. '
    'Example: select textrawl.session_anchors(''github.com/acme/api'', array[''src/parse.py 0123456789abcdef'']);';
