create function textrawl.delete_identity(
    filename text, category text default 'custom', instance text default null,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    moment timestamptz default clock_timestamp(),
    out snapshot_id text,
    out deleted boolean  -- false: there is no such file
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'forget', client, tool, request);
    path   text := identity_path(category, filename);
    owner  uuid;
    number bigint;
begin
    perform claim_removal();
    -- From here on, no other session changes documents of the space.
    number := next_change(origin.space_id);
    select d.id into owner from current_documents(origin.space_id, 'identity', path) d;
    deleted := found;
    if deleted then
        snapshot_id := keep_snapshot(owner, 'pre-replace', instance, false, moment, origin);
        perform add_version(owner, number, null, null, moment, instance, origin);
    end if;
end
$$;

comment on function textrawl.delete_identity is
    'Delete an identity file. Its text stays as a snapshot, and an undo brings it back. Errors: TR010 to TR012 (access), '
    'TR090 (not a filename). '
    'Example: select deleted from textrawl.delete_identity(''garden.md'');';
