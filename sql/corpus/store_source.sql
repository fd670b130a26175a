create function textrawl.store_source(
    graph text,    -- name of the graph
    path text,     -- key of the source in its graph: file/ and the path of the file, clip/ and a part of the hash, or
                   -- import/ with the system and the id of an imported item
    label text,    -- name of the source for people
    content text,
    chunks jsonb,  -- [[part, start, length, tokens], …]; start is the number of characters before the chunk
    sha256 text,   -- of the file, or of the remembered text
    source_kind text default 'file',       -- clip, ai-conversation or file
    modified_at timestamptz default null,  -- when the file was changed; null: now
    credential bytea default null, client text default null, tool text default 'sql', request text default null,
    out document_id uuid, out space_id integer,
    out stored_path text,    -- another path if the graph has the text there already
    out created boolean,
    out changed boolean,     -- false: the graph has the text already
    out chunk_count integer  -- number of chunks of the source
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    origin  origin := open_graph(credential, graph, 'write', client, tool, request);
    version bigint;
    former  record;
    known   text;
begin
    perform check_source(path, label, content, chunks, sha256);
    space_id := origin.space_id;
    created := false;
    changed := false;
    select s.document_id, d.path, s.chunks, s.content_hash into document_id, stored_path, chunk_count, known
    from source s join document d on d.space_id = s.space_id and d.id = s.document_id
    where s.space_id = origin.space_id and (s.content_hash = sha256 or s.content_hash is not null and d.path = path)
    order by d.path <> path, d.path limit 1;
    -- A source whose file changed gets the new text, even if another source has the same text.
    if known = sha256 then
        -- A caller who cannot read the graph must not learn the path of another source.
        if not may_read(credential, origin.space_id) then
            stored_path := path;
        end if;
        return;
    end if;
    perform claim_removal();
    -- A source keeps its label and its entity. Its path can be here without this text, because an undo took back the text.
    label := coalesce((select s.label from document d join source s on s.space_id = d.space_id and s.document_id = d.id
                       where d.space_id = origin.space_id and d.kind = 'source' and d.path = store_source.path), label);
    select c.id, c.version, c.created into document_id, version, created from claim_document('source', path, label, origin) c;
    insert into source as s (space_id, document_id, source_kind, label)
    values (origin.space_id, document_id, source_kind, label) on conflict do nothing;
    stored_path := path;
    -- Another session can have stored the same text before this session got the lock of the clock.
    if not exists (select from source s where s.space_id = origin.space_id and s.document_id = store_source.document_id
                                          and s.content_hash = sha256) then
        changed := true;
        select d.content, d.attributes -> 'chunks' as chunks into former
        from current_documents(origin.space_id, 'source') d where d.id = document_id;
        perform add_version(document_id, version, content, jsonb_build_object(
                                'sha256', sha256, 'chunks', keep_numbers(content, chunks, former.content, former.chunks)),
                            coalesce(modified_at, clock_timestamp()), null, origin);
        perform place_parts(document_id, origin);
    end if;
    chunk_count := (select s.chunks from source s where s.space_id = origin.space_id and s.document_id = store_source.document_id);
end
$$;

comment on function textrawl.store_source is
    'Store a text in a graph, or a new version of it, with its chunks, in one transaction. If the graph has the same text '
    'already, nothing changes. The vectors of new chunks are pending. Errors: TR010, TR011 (access), TR063 (no such graph), '
    'TR064 (no text, or more than 5,000,000 characters), TR065 (wrong form of the other arguments). '
    'Example: select document_id, chunk_count from textrawl.store_source(''handbook'', ''file/tea.md'', ''tea.md'', ''Tea at four.'', '
    '''[[1, 0, 12, 4]]'', encode(sha256(''Tea at four.''), ''hex''));';
