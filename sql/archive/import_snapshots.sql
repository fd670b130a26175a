create function textrawl.import_snapshots(lines jsonb) returns table (
    place integer,  -- number of the line in the file
    stored uuid,    -- null
    outcome text    -- added, known (by id), or homeless (its version is missing)
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
begin
    perform require_owner();
    return query
    with input as materialized (
        select g.*, v.version as number
        from jsonb_to_recordset(lines) g(
            place integer, space integer, id text, document uuid, version uuid, reason text, source text, pinned boolean,
            created_at timestamptz)
        left join lateral (
            select v.version from document_version v
            where v.space_id = g.space and v.document_id = g.document and version_key(v.created_at, v.content) = g.version
            limit 1) v on true
    ), inserted as (
        insert into identity_snapshot as n (space_id, id, document_id, version, reason, source, pinned, created_at)
        select distinct on (i.space, i.id) i.space, i.id, i.document, i.number, i.reason, i.source, i.pinned, i.created_at
        from input i where i.number is not null order by i.space, i.id, i.place
        on conflict do nothing
        returning n.space_id, n.id
    )
    select i.place, null::uuid, case when i.number is null then 'homeless' when n.id is null then 'known' else 'added' end
    from input i left join inserted n on n.space_id = i.space and n.id = i.id;
end
$$;

comment on function textrawl.import_snapshots is
    'Import the snapshots of identity files, after their versions. Error TR013: not the owner.';
