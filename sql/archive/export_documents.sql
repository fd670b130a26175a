create function textrawl.export_documents(space integer)
returns table (
    kind text, space text, id uuid, type text, path text, entity uuid, created_at timestamptz,
    granularity text, date text, instance text, slug text,  -- only of a journal entry
    source_kind text, label text,                           -- only of a source
    namespace text[], key text, "position" bigint, expires_at timestamptz  -- only of an item or an entry of a log
)
language sql stable
begin atomic
    select 'document'::text, s.name, d.id, d.kind, d.path, d.entity_id, d.created_at, j.granularity, j.date, j.instance_id, j.slug,
        c.source_kind, c.label, n.labels, i.key, i.position, i.expires_at
    from textrawl.document d
    join textrawl.space s on s.id = d.space_id
    left join textrawl.journal_entry j on j.space_id = d.space_id and j.document_id = d.id
    left join textrawl.source c on c.space_id = d.space_id and c.document_id = d.id
    left join textrawl.item i on i.space_id = d.space_id and i.document_id = d.id
    left join textrawl.item_namespace n on n.space_id = i.space_id and n.id = i.namespace_id
    where d.space_id = export_documents.space and textrawl.is_unexpired(i.expires_at)
    order by d.created_at, d.id;
end;

comment on function textrawl.export_documents is
    'Identity files, journal entries, sources and items of a space as lines of an export, without their texts. '
    'Example: select row_to_json(d) from textrawl.export_documents(1) d;';
