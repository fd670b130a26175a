create function textrawl.current_documents(space integer, kind text default null, path text default null)
returns table (
    id uuid, kind text, path text, label text, entity_id uuid, version bigint, changed bigint, number integer, content text,
    attributes jsonb, modified_at timestamptz, modified_by text, created_at timestamptz
)
language sql stable rows 20
begin atomic
    select d.id, d.kind, d.path, v.attributes ->> 'label', d.entity_id, d.version, d.changed, v.number, v.content, v.attributes, v.modified_at,
        v.modified_by, d.created_at
    from textrawl.document d
    join textrawl.document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
    where d.space_id = current_documents.space and v.content is not null
      and (current_documents.kind is null or d.kind = current_documents.kind)
      and (current_documents.path is null or d.path = current_documents.path);
end;

comment on function textrawl.current_documents is
    'The documents of a space with their current texts, without deleted documents. The caller must check '
    'that the space may be read.';
