create function textrawl.export_versions(space integer)
returns table (
    kind text, space text, id uuid, document uuid, number integer,
    text text,        -- null: the version deletes the document
    exact boolean,    -- true: the text is the JSON of an item, of which nothing is cleaned
    attributes jsonb, lost boolean,
    current boolean,  -- true: the current version
    modified_at timestamptz, modified_by text, author text, client text, tool text, request text, created_at timestamptz
)
language sql stable
begin atomic
    select 'version'::text, s.name, textrawl.version_key(v.created_at, v.content), v.document_id, v.number, v.content, d.kind in ('item', 'log'), v.attributes,
        v.lost, d.version is not distinct from v.version, v.modified_at, v.modified_by,
        a.name, v.client, v.tool, v.request, v.created_at
    from textrawl.document_version v
    join textrawl.document d on d.space_id = v.space_id and d.id = v.document_id
    join textrawl.space s on s.id = v.space_id
    join textrawl.actor a on a.id = v.author_id
    left join textrawl.item i on i.space_id = d.space_id and i.document_id = d.id
    where v.space_id = export_versions.space and textrawl.is_unexpired(i.expires_at)
    order by v.version, v.document_id;
end;

comment on function textrawl.export_versions is
    'All texts of identity files, journal entries, sources and items as lines of an export, in the order in which they were stored. '
    'Example: select row_to_json(v) from textrawl.export_versions(1) v;';
