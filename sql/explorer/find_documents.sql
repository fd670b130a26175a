create function textrawl.find_documents(
    spaces text[], paths text[],  -- of each document the name of its space, and its path
    credential bytea default null, graphs text[] default null  -- only these graphs can be read; null: all
) returns table (space text, path text, kind text, id uuid)
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select s.id, s.name from textrawl.access_rights(credential) r join textrawl.space s on s.id = r.space_id
        where s.tier is null and 'read' = any(r.scopes)
        union all
        select g.space_id, g.name from textrawl.readable_graphs(credential, graphs) g
    )
    select distinct scope.name, d.path, d.kind, d.id
    from unnest(find_documents.spaces, paths) wanted (space, path)
    join scope on scope.name = wanted.space
    join textrawl.document d on d.space_id = scope.id and d.path = wanted.path and d.kind in ('identity', 'journal', 'source')
    join textrawl.document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
    where v.content is not null;
end;

comment on function textrawl.find_documents is
    'The documents with these paths that exist and that you can read. What you cannot read, and a sensitive graph, gives '
    'no row. Errors: none. '
    'Example: select kind, id from textrawl.find_documents(array[''handbook''], array[''file/setup.md'']);';
