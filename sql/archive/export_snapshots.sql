create function textrawl.export_snapshots(space integer)
returns table (
    kind text, space text, id text, document uuid, version uuid, reason text, source text, pinned boolean, created_at timestamptz
)
language sql stable
begin atomic
    select 'snapshot'::text, s.name, n.id, n.document_id, textrawl.version_key(v.created_at, v.content), n.reason, n.source, n.pinned,
        n.created_at
    from textrawl.identity_snapshot n
    join textrawl.document_version v on v.space_id = n.space_id and v.document_id = n.document_id and v.version = n.version
    join textrawl.space s on s.id = n.space_id
    where n.space_id = export_snapshots.space
    order by n.created_at, n.id;
end;

comment on function textrawl.export_snapshots is
    'Snapshots of identity files as lines of an export. Each line names the version that the snapshot keeps. '
    'Example: select row_to_json(n) from textrawl.export_snapshots(1) n;';
