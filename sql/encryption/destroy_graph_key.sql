create function textrawl.destroy_graph_key(
    graph text,
    credential bytea default null, client text default null, tool text default 'sql', request text default null,
    out key uuid,
    out documents bigint  -- number of documents that were deleted
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    origin origin := open_encrypted_graph(credential, graph, 'forget', client, tool, request);
begin
    perform require_admin(credential, origin.space_id);
    delete from graph_key k where k.space_id = origin.space_id returning k.id into key;
    delete from encrypted_document d where d.space_id = origin.space_id;
    get diagnostics documents = row_count;
    if key is not null then
        perform record_event('destroyed', null, null, null, origin, jsonb_build_object('key', key, 'documents', documents));
    end if;
end
$$;

comment on function textrawl.destroy_graph_key is
    'Delete all encrypted documents of a sensitive graph, after the file of its key was deleted. The next document gets a '
    'new key. The caller must be the owner or have the scopes admin and forget in the graph. Errors: TR010, TR011 (access), '
    'TR063 (no such graph), TR130 (the graph is not sensitive).';
