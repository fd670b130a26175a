create function textrawl.keep_snapshot(
    document uuid, reason text, source text, pinned boolean, moment timestamptz, origin textrawl.origin
) returns text
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    current record;
    -- The id contains the time in milliseconds. If the file has a snapshot of this millisecond, take the next one.
    instant timestamptz := date_trunc('milliseconds', moment);
    name    text;
begin
    select d.path, d.version, v.content into current
    from document d
    join document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
    where d.space_id = origin.space_id and d.id = keep_snapshot.document;
    if not found or btrim(coalesce(current.content, ''), E' \t\r\n') = '' then
        return null;
    end if;
    loop
        name := left(current.path, -3) || to_char(instant at time zone 'UTC', '_YYYY-MM-DD"T"HH24-MI-SS-MS"Z"');
        insert into identity_snapshot (space_id, id, document_id, version, reason, source, pinned, created_at)
        values (origin.space_id, name, keep_snapshot.document, current.version, keep_snapshot.reason,
                coalesce(keep_snapshot.source, origin.tool), keep_snapshot.pinned, instant)
        on conflict do nothing;
        exit when found;
        instant := instant + interval '1 millisecond';
    end loop;
    perform record_event('snapshot', null, null, null, origin, jsonb_build_object('path', current.path, 'snapshot', name));
    return name;
end
$$;

comment on function textrawl.keep_snapshot is
    'Keep the current version of an identity file as a snapshot and return its id, or null if the file is blank. Lock '
    'the clock of the space first.';
