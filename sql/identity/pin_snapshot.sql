create function textrawl.pin_snapshot(
    id text, pinned boolean default true,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns boolean
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
begin
    update identity_snapshot s set pinned = pin_snapshot.pinned
    where s.space_id = origin.space_id and s.id = pin_snapshot.id and s.pinned <> pin_snapshot.pinned;
    if found then
        perform record_event(case when pinned then 'pinned' else 'unpinned' end, null, null, null, origin,
                             jsonb_build_object('snapshot', pin_snapshot.id));
    end if;
    return exists (select from identity_snapshot s where s.space_id = origin.space_id and s.id = pin_snapshot.id);
end
$$;

comment on function textrawl.pin_snapshot is
    'Pin a snapshot, so that it is kept however old it becomes. If `pinned` is false, unpin it. Return false if there is '
    'no such snapshot. Errors: TR010 to TR012 (access). '
    'Example: select textrawl.pin_snapshot(''self/my_identity_2026-05-12T09-30-00-000Z'');';
