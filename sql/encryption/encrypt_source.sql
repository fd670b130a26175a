create function textrawl.encrypt_source(
    graph text,
    source uuid,     -- the source in the clear, which is deleted with all its versions
    version bigint,  -- of the document, which was encrypted
    document uuid default null, key uuid default null, digest bytea default null, head bytea default null,
    content bytea default null,  -- null: the source has no text any more
    credential bytea default null, client text default null, tool text default 'sql', request text default null
) returns boolean
language plpgsql volatile security definer
set search_path from current
as $$
declare
    origin origin := open_encrypted_graph(credential, graph, 'write', client, tool, request);
begin
    perform require_admin(credential, origin.space_id);
    perform claim_removal();
    perform from entity e join document d on d.space_id = e.space_id and d.entity_id = e.id
    where e.space_id = origin.space_id and d.id = encrypt_source.source for update of e;
    perform next_change(origin.space_id);
    -- A correction or an undo that began before the graph was sensitive can have changed the text.
    if not exists (select from document d where d.space_id = origin.space_id and d.id = encrypt_source.source
                                            and d.version is not distinct from encrypt_source.version) then
        return false;
    end if;
    -- A newer text of this path can be encrypted already.
    if content is not null and not exists (
        select from encrypted_document d where d.space_id = origin.space_id and d.id = encrypt_source.document) then
        perform store_encrypted_document(graph, document, key, digest, head, content, credential, client, tool, request);
    end if;
    perform erase_document(encrypt_source.source, origin);
    if not exists (select from source s where s.space_id = origin.space_id) then
        perform wipe_graph(origin.space_id);
    end if;
    return true;
end
$$;

comment on function textrawl.encrypt_source is
    'Store a source of a graph encrypted in place of the one in the clear, or return false if it has another version '
    'by now. With the last one, all else that repeats texts and paths of the graph is deleted. The caller '
    'must be the owner or have the scope admin in the graph. Errors: as store_encrypted_document().';
