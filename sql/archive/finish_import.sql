create function textrawl.finish_import(
    graph text, run uuid, documents integer,
    credential bytea default null, client text default null, tool text default 'sql'
) returns integer
language plpgsql volatile security definer
set search_path from current
as $$
declare
    origin origin := open_graph(credential, graph, 'write', client, tool, 'import ' || run);
begin
    update import_run r set finished_at = clock_timestamp() where r.space_id = origin.space_id and r.id = run;
    perform record_event('imported', null, null, null, origin, jsonb_build_object('import', run, 'documents', documents));
    return documents;
end
$$;

comment on function textrawl.finish_import is
    'End an import of documents, and add an event with the number of stored documents to the trail. Return the number. Errors: TR010, TR011 '
    '(access), TR063 (no such graph).';
