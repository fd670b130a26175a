create function textrawl.next_clear_source(
    graph text, credential bytea default null,
    out source uuid,      -- null: no source is in the clear any more
    out path text, out label text, out kind text,
    out content text,     -- null: an undo took the text back
    out chunks jsonb,     -- [[part, start, length, tokens], …]
    out sha256 text, out modified_at timestamptz,
    out version bigint    -- of the document, for encrypt_source()
)
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    home integer := find_encrypted_graph(graph, credential);
begin
    select s.document_id, d.path, s.label, s.source_kind, c.content, c.attributes -> 'chunks', s.content_hash, c.modified_at,
        d.version
    into source, path, label, kind, content, chunks, sha256, modified_at, version
    from source s
    join document d on d.space_id = s.space_id and d.id = s.document_id
    left join current_documents(home, 'source') c on c.id = d.id
    where s.space_id = home order by d.created_at, d.id limit 1;
end
$$;

comment on function textrawl.next_clear_source is
    'A source of a sensitive graph that a former version, or another tier, stored in the clear. Errors: TR010, TR011 (access), '
    'TR063 (no such graph), TR130 (the graph is not sensitive).';
