create function textrawl.list_repository_facts(
    everywhere boolean default false,  -- facts of all repositories
    anchored boolean default false,    -- only facts with anchors
    max_rows integer default 20,
    spaces integer[] default null, credential bytea default null
) returns table (
    observation_id uuid, space text, entity_name text, content text, repository text, author text, created_at timestamptz,
    anchors text[]  -- see session_anchors()
)
language sql stable security definer rows 20
set search_path from current
begin atomic
    select o.id, s.name, e.name, o.content, o.repository, a.name, o.created_at, textrawl.session_anchors(o.repository, o.anchors, o.space_id, o.evidence)
    from textrawl.fact o
    join textrawl.space s on s.id = o.space_id
    join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
    join textrawl.actor a on a.id = o.author_id
    where o.space_id = any(textrawl.readable_spaces(credential, list_repository_facts.spaces)) and (o.repository is not null or anchored and o.anchors[1] like 'document %')
      and (everywhere or o.repository is null or split_part(o.repository, '#', 1) = any((select textrawl.session_repositories())::text[]))
      and (not anchored or o.anchors is not null)
      and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at) and not textrawl.is_entry_part(o.space_id, o.whole)
    order by o.created_at desc, o.id limit max_rows;
end;

comment on function textrawl.list_repository_facts is
    'The newest valid facts of the repository of this session, or of all repositories. Errors: TR010, TR011 (access), TR060 '
    '(a given space is a graph). '
    'Example: select repository, entity_name, content from textrawl.list_repository_facts(true);';
