create function textrawl.revert_undo(
    undo bigint, space integer default null, credential bytea default null,
    client text default null, tool text default 'sql', request text default null
) returns table (
    space_name text,
    restored bigint,
    merged bigint  -- rows that were not restored, because the same content was stored again meanwhile
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    spaces   integer[] := administered_spaces(credential, revert_undo.space);
    undo_row undo;
    origin   origin;
    blocker  bigint;
begin
    perform claim_removal(alone => true);
    select * into undo_row from undo u where u.space_id = any(spaces) and u.id = revert_undo.undo and u.moved_to is null for update;
    if undo_row.id is null or undo_row.reverted_at is not null or undo_row.purged_at is not null then
        raise exception using errcode = 'TR031', message = 'no such undo',
            detail = case
                when undo_row.reverted_at is not null then 'reverted' when undo_row.purged_at is not null then 'purged' else '' end;
    end if;
    -- Undos that returned rows of moves are reverted together. Otherwise a row could be lost or be in both spaces.
    if exists (select from undo u where u.joint = undo_row.joint and u.reverted_at is null and u.space_id <> all(spaces)) then
        raise exception using errcode = 'TR039', message = 'the undo is one of several spaces';
    end if;
    for undo_row in
        select * from undo u
        where u.space_id = any(spaces) and (u.id = undo_row.id or u.joint = undo_row.joint) and u.reverted_at is null
        order by u.id desc for update
    loop
        origin := open_write(credential, undo_row.space_id, 'admin', client, tool, request, graphs => true);
        perform claim_kept(undo_row.space_id, undo_row.id);
        -- An alias that the undo revived can have the name of an entity that this revert restores.
        if undo_aliases(undo_row.space_id, undo_row.id, back => true, only_removing => true) then
            perform claim_kept(undo_row.space_id, undo_row.id);
        end if;
        -- Find a later undo that removed rows that this revert would change, or rows that the events of this undo are
        -- about.
        select min(later.undo_id) into blocker
        from undone later
        join undo u on u.space_id = later.space_id and u.id = later.undo_id and u.reverted_at is null and u.moved_to is null
        where later.space_id = undo_row.space_id and later.undo_id > undo_row.id and later.action = 'remove'
          and (u.joint = undo_row.joint) is not true
          and later.id in (
              select unnest(array[n.renewed, (d.before ->> 'replaced_by')::uuid]) from undone d
              cross join renewed_ids(d.id) n
              where d.space_id = undo_row.space_id and d.undo_id = undo_row.id
              union all
              select unnest(array[e.observation_id, e.relation_id]) from event e
              where e.space_id = undo_row.space_id and e.id = any(undo_row.events));
        -- A later undo about the same proposal also counts: it can have taken back the proposal or its acceptance.
        blocker := least(blocker, (
            select min(u.id) from undo u
            join event other on other.space_id = u.space_id and other.id = any(u.events) and other.detail ? 'proposal'
            join event e on e.space_id = u.space_id and e.id = any(undo_row.events) and e.detail ->> 'proposal' = other.detail ->> 'proposal'
            where u.space_id = undo_row.space_id and u.id > undo_row.id and u.reverted_at is null));
        if blocker is not null then
            raise exception using errcode = 'TR032', message = 'a later undo must be reverted first', detail = blocker::text;
        end if;
        return query
            select s.name, r.restored, r.merged from restore_undone(undo_row.space_id, undo_row.id, origin) r, space s
            where s.id = undo_row.space_id;
        update undo u set reverted_at = now() where u.space_id = undo_row.space_id and u.id = undo_row.id;
    end loop;
end
$$;

comment on function textrawl.revert_undo is
    'Revert an undo. Undos of one call that returned rows of moves are reverted together, so there is a row for each. Errors: TR010, TR011 (access), TR031 (no such undo, or it was already reverted or purged), TR032 '
    '(a later undo must be reverted first; the detail is its id), TR039 (the undo concerns more spaces than you gave or '
    'administer). '
    'Example: select * from textrawl.revert_undo(7);';
