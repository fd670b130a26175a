create function textrawl.forget_encrypted_document(
    graph text, document uuid,
    credential bytea default null, client text default null, tool text default 'sql', request text default null
) returns void
language plpgsql volatile security definer
set search_path from current
as $$
declare
    origin origin := open_encrypted_graph(credential, graph, 'forget', client, tool, request);
begin
    delete from encrypted_document d where d.space_id = origin.space_id and d.id = document;
    if not found then
        raise exception using errcode = 'TR066', message = 'there is no such document';
    end if;
    perform record_event('discarded', null, null, null, origin, jsonb_build_object('encrypted', document));
end
$$;

comment on function textrawl.forget_encrypted_document is
    'Delete an encrypted document for good. Errors: TR010, TR011 (access), TR063 (no such graph), TR066 (no such document), '
    'TR130 (the graph is not sensitive).';
