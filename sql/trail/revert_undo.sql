create function textrawl.revert_undo(
    undo bigint, space integer default null, credential bytea default null,
    client text default null, tool text default 'sql', request text default null
) returns table (
    space_name text,
    restored bigint  -- number of rows
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
    touched  bigint;
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
    perform undo_aliases(undo_row.space_id, undo_row.id, back => true, only_removing => true);
    perform claim_kept(undo_row.space_id, undo_row.id);
    -- Find a later undo that changed the same rows, or that removed what these rows or the events of this undo are about.
    select min(l.undo_id) into blocker
    from undone l join undo u on u.space_id = l.space_id and u.id = l.undo_id
    where l.space_id = undo_row.space_id and l.undo_id > undo_row.id and u.reverted_at is null and (
        exists (select from undone d where d.space_id = l.space_id and d.undo_id = undo_row.id and d.id = l.id and d.kind = l.kind)
        or l.action in ('remove', 'drop entity') and (
            exists (select from undone d where d.space_id = l.space_id and d.undo_id = undo_row.id and l.id::text in (
                d.before ->> 'entity_id', d.before ->> 'from_entity', d.before ->> 'to_entity', d.before ->> 'replaced_by'))
            or l.id in (select unnest(array[e.observation_id, e.relation_id]) from event e
                        where e.space_id = l.space_id and e.id = any(undo_row.events))));
    if blocker is not null then
        raise exception using errcode = 'TR032', message = 'a later undo must be reverted first', detail = blocker::text;
    end if;
    touched := find_touched(undo_row.space_id, undo_row.id);
    if touched is not null then
        raise exception using errcode = 'TR111', message = 'a later event builds on what the undo changed', detail = (
            select concat_ws(' ', coalesce(e.name, v.entity_id::text), quote_literal(o.content), v.action, format(
                '(event %s) by %s at %s', v.id, a.name, to_char(v.at at time zone 'UTC', 'YYYY-MM-DD HH24:MI')))
            from event v join actor a on a.id = v.actor_id
            left join entity e on e.space_id = v.space_id and e.id = v.entity_id
            left join observation o on o.space_id = v.space_id and o.id in (v.observation_id, v.relation_id)
            where v.space_id = undo_row.space_id and v.id = touched);
    end if;
    return query
        select s.name, restore_undone(s.id, undo_row.id, origin) from space s where s.id = undo_row.space_id;
    update undo u set reverted_at = now() where u.space_id = undo_row.space_id and u.id = undo_row.id;
end
$$;

comment on function textrawl.revert_undo is
    'Revert an undo: what it removed or changed is exactly as it was before. Errors: TR010, TR011 (access), TR031 (no such '
    'undo, or it was already reverted or purged), TR032 (a later undo must be reverted first; the detail is its id), TR111 '
    '(a later event builds on these rows; the detail says which), TR115 (too much is pinned for what the undo unpinned). '
    'Example: select * from textrawl.revert_undo(7);';
