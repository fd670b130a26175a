create function textrawl.restore_snapshot(
    id text, instance text default null,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    moment timestamptz default clock_timestamp(),
    out path text,  -- null: there is no such snapshot
    out snapshot_id text
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
    kept   record;
    number bigint;
begin
    perform claim_removal();
    number := next_change(origin.space_id);
    select s.document_id, d.path, v.content into kept
    from identity_snapshot s
    join document d on d.space_id = s.space_id and d.id = s.document_id
    join document_version v on v.space_id = s.space_id and v.document_id = s.document_id and v.version = s.version
    where s.space_id = origin.space_id and s.id = restore_snapshot.id;
    if found then
        path := kept.path;
        snapshot_id := keep_snapshot(kept.document_id, 'pre-replace', instance, false, moment, origin);
        perform add_version(kept.document_id, number, kept.content, null, moment, instance, origin);
    end if;
end
$$;

comment on function textrawl.restore_snapshot is
    'Make the text of a snapshot the text of its file again. The replaced text is kept as another snapshot. '
    'Errors: TR010 to TR012 (access). '
    'Example: select path from textrawl.restore_snapshot(''self/my_identity_2026-05-12T09-30-00-000Z'');';
