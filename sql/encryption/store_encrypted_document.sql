create function textrawl.store_encrypted_document(
    graph text,
    document uuid,   -- keyed digest of the path
    key uuid,        -- id of the key that encrypted head and content
    digest bytea,    -- keyed digest of the file
    head bytea, content bytea,
    credential bytea default null, client text default null, tool text default 'sql', request text default null,
    out created boolean,
    out changed boolean,  -- false: the graph has the content already
    out same_path boolean -- false: the graph has the content under another path
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    origin origin := open_encrypted_graph(credential, graph, 'write', client, tool, request);
    known  bytea;
begin
    -- Until the transaction ends, no other session stores documents here or destroys the key.
    perform from graph_key k where k.space_id = origin.space_id and k.id = key for update;
    if not found then
        raise exception using errcode = 'TR132', message = 'the graph has another key, or its key was destroyed';
    end if;
    select d.digest into known from encrypted_document d where d.space_id = origin.space_id and d.id = document;
    created := known is null;
    same_path := known is not distinct from digest;
    -- A document whose file changed gets the new content, even if another document has the same.
    changed := not same_path and not (created and exists (
        select from encrypted_document d where d.space_id = origin.space_id and d.digest = store_encrypted_document.digest));
    created := created and changed;
    if changed then
        insert into encrypted_document as d (space_id, id, digest, head, content)
        values (origin.space_id, document, digest, head, content)
        on conflict (space_id, id) do update
        set version = d.version + 1, digest = excluded.digest, head = excluded.head, content = excluded.content,
            stored_at = clock_timestamp();
        perform record_event('encrypted', null, null, null, origin, jsonb_build_object('encrypted', document));
    end if;
exception
    when check_violation or not_null_violation then
        raise exception using errcode = 'TR065', message = 'not an encrypted document';
end
$$;

comment on function textrawl.store_encrypted_document is
    'Store a document of a sensitive graph that the caller has encrypted, in place of its former version. Errors: TR010, '
    'TR011 (access), TR063 (no such graph), TR065 (wrong form), TR130 (the graph is not sensitive), TR132 '
    '(the graph has another key).';
