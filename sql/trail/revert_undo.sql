create function textrawl.revert_undo(
    undo bigint, space integer default null, credential bytea default null,
    client text default null, tool text default 'sql', request text default null
) returns table (
    space_name text,
    restored bigint,
    merged bigint  -- rows that were not restored, because they were changed or stored again meanwhile
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
    select * into undo_row from undo u where u.space_id = any(spaces) and u.id = revert_undo.undo for update;
    if undo_row.id is null or undo_row.reverted_at is not null or undo_row.purged_at is not null then
        raise exception using errcode = 'TR031', message = 'no such undo',
            detail = case
                when undo_row.reverted_at is not null then 'reverted' when undo_row.purged_at is not null then 'purged' else '' end;
    end if;
    origin := open_write(credential, undo_row.space_id, 'admin', client, tool, request, graphs => true);
    perform claim_kept(undo_row.space_id, undo_row.id);
    -- An alias that the undo revived can have the name of an entity that this revert restores.
    if undo_aliases(undo_row.space_id, undo_row.id, back => true, only_removing => true) then
        perform claim_kept(undo_row.space_id, undo_row.id);
    end if;
    -- Find a later undo that changed the same rows, or that removed rows or decided proposals that the events of this undo
    -- are about.
    select min(u.id) into blocker
    from undo u
    where u.space_id = undo_row.space_id and u.id > undo_row.id and u.reverted_at is null and (
        exists (
            select from undone later
            where later.space_id = u.space_id and later.undo_id = u.id and (exists (
                select from undone d where d.space_id = undo_row.space_id and d.undo_id = undo_row.id and d.id = later.id and d.kind = later.kind)
              or later.action = 'remove' and later.id in (
                select unnest(array[n.renewed, (d.before ->> 'replaced_by')::uuid]) from undone d
                cross join renewed_ids(d.id) n
                where d.space_id = undo_row.space_id and d.undo_id = undo_row.id
                union all
                select unnest(array[e.observation_id, e.relation_id]) from event e
                where e.space_id = undo_row.space_id and e.id = any(undo_row.events))))
        or exists (
            select from event e join event other on other.space_id = e.space_id and other.id = any(u.events) and other.detail ? 'proposal'
            where e.space_id = u.space_id and e.id = any(undo_row.events) and e.detail ->> 'proposal' = other.detail ->> 'proposal'));
    if blocker is not null then
        raise exception using errcode = 'TR032', message = 'a later undo must be reverted first', detail = blocker::text;
    end if;
    return query
        select s.name, r.restored, r.merged from restore_undone(undo_row.space_id, undo_row.id, origin) r, space s
        where s.id = undo_row.space_id;
    update undo u set reverted_at = now() where u.space_id = undo_row.space_id and u.id = undo_row.id;
end
$$;

comment on function textrawl.revert_undo is
    'Revert an undo: what it removed or changed is as it was before, except rows that were changed since. Errors: TR010, '
    'TR011 (access), TR031 (no such undo, or it was already reverted or purged), TR032 (a later undo must be reverted '
    'first; the detail is its id). '
    'Example: select * from textrawl.revert_undo(7);';
