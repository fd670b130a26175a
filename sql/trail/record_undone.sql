create function textrawl.record_undone(action text, space integer, undo bigint, origin textrawl.origin) returns void
language sql volatile
begin atomic
    -- Set updated_at of the entities. Skip an entity that another session has locked, because that session sets its
    -- updated_at too.
    update textrawl.entity e set updated_at = clock_timestamp()
    from (
        select free.id from textrawl.entity free
        where free.space_id = space and free.name_key in (
            select unnest(d.names) from textrawl.undone d where d.space_id = space and d.undo_id = undo)
        for no key update skip locked) free
    where e.space_id = space and e.id = free.id;
    select textrawl.record_event(
        record_undone.action,  -- the rows have an action, too
        coalesce((d.before ->> 'entity_id')::uuid, (d.before ->> 'from_entity')::uuid, case when d.kind = 'entity' then d.id end,
                 (select o.entity_id from textrawl.observation o where o.space_id = space and o.id = d.id),
                 (select r.from_entity from textrawl.relation r where r.space_id = space and r.id = d.id)),
        case when d.kind = 'observation' then d.id end, case when d.kind = 'relation' then d.id end,
        origin, jsonb_build_object('undo', undo, 'what', d.action)
            || case when d.kind = 'proposal' then jsonb_build_object('proposal', d.id) else '{}' end)
    from textrawl.undone d
    where d.space_id = space and d.undo_id = undo
    order by d.names, d.action, d.id;
end;

comment on function textrawl.record_undone is
    'Add an event to the trail for each row that an undo or a revert changes.';
