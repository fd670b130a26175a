create function textrawl.encrypted_documents(
    graph text,
    documents uuid[] default null,         -- only these documents; null: all
    contents boolean default false,        -- true: with their contents
    credential bytea default null
) returns table (
    document_id uuid, version integer, digest bytea, head bytea, content bytea,
    bytes integer,  -- of the content
    created_at timestamptz, stored_at timestamptz
)
language plpgsql stable security definer rows 1000
set search_path from current
as $$
#variable_conflict use_column
declare
    home integer := find_encrypted_graph(graph, credential);
begin
    return query
        select d.id, d.version, d.digest, d.head, case when contents then d.content end, octet_length(d.content),
            d.created_at, d.stored_at
        from encrypted_document d
        where d.space_id = home and (documents is null or d.id = any(documents))
        order by d.created_at, d.id;
end
$$;

comment on function textrawl.encrypted_documents is
    'The encrypted documents of a sensitive graph. Errors: TR010, TR011 (access), TR063 (no such graph), TR130 (the graph is not '
    'sensitive). '
    'Example: select document_id, octet_length(head) from textrawl.encrypted_documents(''diary'');';
