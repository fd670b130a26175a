create function textrawl.start_import(
    graph text, system text,
    credential bytea default null, client text default null, tool text default 'sql',
    command text default null,  -- the beginning of the id, as of claim_import()
    folder jsonb default null   -- as of import_run
) returns uuid
language sql volatile security definer
set search_path from current
begin atomic
    select textrawl.claim_import(system, textrawl.open_graph(credential, graph, 'write', client, tool, null), command,
                                 folder);
end;

comment on function textrawl.start_import is
    'Begin an import of documents into a graph, or continue the one that was interrupted. Return its id. Errors: TR010, '
    'TR011 (access), TR063 (no such graph). Example: select textrawl.start_import(''handbook'', ''chatgpt'');';
