create function textrawl.restore_undone(space integer, undo bigint, origin textrawl.origin, out restored bigint, out merged bigint)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    ended  uuid[];
    stored jsonb;
    own    bigint[] := (select u.events from undo u where u.space_id = restore_undone.space and u.id = restore_undone.undo);
    withdrawn bigint[] := array(
        select unnest(u.events) from undo u where u.space_id = restore_undone.space and u.reverted_at is null);
begin
    perform record_undone('restored', restore_undone.space, restore_undone.undo, origin);
    perform repeat_moves(restore_undone.space, restore_undone.undo);

    -- Change only rows that are still as the undo left them, because other sessions can have changed rows meanwhile.
    -- End the revived facts before the removed facts are restored. Otherwise two facts with the same text would be
    -- valid.
    with back as (
        update observation o set valid_until = (d.before ->> 'valid_until')::timestamptz,
            closed_at = (d.before ->> 'closed_at')::timestamptz, replaced_by = null
        from undone d
        where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.action = 'revive' and d.kind = 'observation'
          and o.space_id = restore_undone.space and o.id = d.id
          and o.valid_until is not distinct from (d.after ->> 'valid_until')::timestamptz
          and o.replaced_by is not distinct from (d.after ->> 'replaced_by')::uuid
        returning o.id
    )
    select coalesce(array_agg(id), '{}') into ended from back;
    perform restore_memory(restore_undone.space, d.id, d.before)
    from undone d
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.action = 'revive' and d.kind = 'observation'
      and d.id = any(ended);
    stored := restore_facts(restore_undone.space, restore_undone.undo);
    update observation o set replaced_by = f.id
    from undone d
    join observation f on f.space_id = restore_undone.space
        and f.id = coalesce(stored ->> (d.before ->> 'replaced_by'), d.before ->> 'replaced_by')::uuid
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.action = 'revive' and d.kind = 'observation'
      and o.space_id = restore_undone.space and o.id = d.id and d.id = any(ended) and f.id <> o.id;
    perform reset_values(restore_undone.space, v.id, v.former)
    from plan_values(
        restore_undone.space,
        array(select distinct e.observation_id from event e
              where e.space_id = restore_undone.space and e.id = any(own) and e.detail ? 'before'),
        withdrawn, array(select unnest(withdrawn) except select unnest(own)), '{}') v;
    update observation o
    set author_id = (d.before ->> 'author_id')::integer, client = d.before ->> 'client',
        tool = d.before ->> 'tool', request = d.before ->> 'request'
    from undone d
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.action = 'hand over'
      and o.space_id = restore_undone.space and o.id = d.id and o.author_id = (d.after ->> 'author_id')::integer;
    update relation r
    set author_id = (d.before ->> 'author_id')::integer, client = d.before ->> 'client',
        tool = d.before ->> 'tool', request = d.before ->> 'request'
    from undone d
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.action = 'hand over'
      and r.space_id = restore_undone.space and r.id = d.id and r.author_id = (d.after ->> 'author_id')::integer;

    update relation r
    set valid_until = (d.before ->> 'valid_until')::timestamptz,
        closed_at = (d.before ->> 'closed_at')::timestamptz
    from undone d
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.action = 'revive' and d.kind = 'relation'
      and r.space_id = restore_undone.space and r.id = d.id
      and r.valid_until is not distinct from (d.after ->> 'valid_until')::timestamptz;
    perform restore_relations(restore_undone.space, restore_undone.undo);

    perform settle_document(
        c.id, kept_version(restore_undone.space, c.id, array(select unnest(withdrawn) except select unnest(own))), origin)
    from undone d
    join document c on c.space_id = restore_undone.space and c.id = d.id
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.kind = 'document';
    perform restore_graph(restore_undone.space, restore_undone.undo);
    perform set_graph_values(restore_undone.space, g.kind, g.id, g.former)
    from plan_graph(
        restore_undone.space,
        array(select c.entity_id from graph_change c
              where c.space_id = restore_undone.space and c.event_id = any(own) and c.entity_id is not null),
        array(select c.relation_id from graph_change c
              where c.space_id = restore_undone.space and c.event_id = any(own) and c.relation_id is not null),
        withdrawn, array(select unnest(withdrawn) except select unnest(own)), '{}') g;
    perform restore_reflections(restore_undone.space, restore_undone.undo);
    insert into dismissal
    select w.* from undone d cross join lateral jsonb_populate_record(null::dismissal, d.before) w
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.action = 'remove' and d.kind = 'dismissal'
    on conflict do nothing;
    perform change_nodes(restore_undone.space, restore_undone.undo, true);
    perform restore_aliases(restore_undone.space, restore_undone.undo);
    perform undo_aliases(restore_undone.space, restore_undone.undo, back => true);
    perform undo_merges(
        (select coalesce(jsonb_agg(to_jsonb(d) || jsonb_build_object('former', d.before)), '[]') from undone d
         where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.kind = 'merge'),
        origin, back => true);
    perform settle_proposals(
        restore_undone.space, restore_undone.undo, array(select unnest(withdrawn) except select unnest(own)));

    -- Repeat the moves once more, because they can have taken away rows that have just been restored.
    perform repeat_moves(restore_undone.space, restore_undone.undo);

    select count(*), count(*) filter (where d.action <> 'return' and (
        d.kind = 'observation' and not exists (select from observation o where o.space_id = restore_undone.space and o.id = d.id)
        or d.kind = 'relation' and not exists (select from relation r where r.space_id = restore_undone.space and r.id = d.id)
        or d.kind = 'reflection' and not exists (select from reflection f where f.space_id = restore_undone.space and f.id = d.id)
        or d.kind = 'dismissal' and not exists (select from dismissal w where w.space_id = restore_undone.space and w.id = d.id)
        or d.kind = 'proposal' and not exists (select from proposal p where p.space_id = restore_undone.space and p.id = d.id)
        or d.kind = 'document' and not exists (select from document c where c.space_id = restore_undone.space and c.id = d.id)
        or d.kind = 'entity' and not exists (select from entity e where e.space_id = restore_undone.space and e.id = d.id)))
    into restored, merged
    from undone d where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo;
    restored := restored - merged;
    delete from undone d where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo;
end
$$;

comment on function textrawl.restore_undone is
    'Restore everything that an undo keeps. revert_undo() calls this after it has checked the rights and claimed the '
    'entities.';
