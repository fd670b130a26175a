create function textrawl.undo_events(
    author integer, since timestamptz, taken bigint[], origin textrawl.origin, others boolean,
    out undo_id bigint,
    -- Number of rows for each action of plan_undo():
    out removed bigint, out handed_over bigint, out revived bigint, out reset bigint, out moved bigint, out retyped bigint,
    out dropped bigint, out lost bigint, out kept bigint
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    target_space integer := origin.space_id;
    plan  jsonb;
    names jsonb := (
        select coalesce(jsonb_agg(to_jsonb(p)), '[]')
        from plan_names(target_space, taken, taken || array(
            select unnest(u.events) from undo u where u.space_id = target_space and u.reverted_at is null)) p where p.kind = 'merge');
begin
    -- Split merges before planning other changes, so that the plan has the entities as they were.
    perform undo_merges(names, origin);
    insert into undo as u (space_id, author_id, actor_id, since, events)
    values (target_space, author, origin.author_id, since, taken)
    returning u.id into undo_id;
    -- Return the rows that moves took away before planning other changes, because these can concern the returned rows.
    if exists (select from event e where e.space_id = target_space and e.id = any(taken) and e.action = 'transferred') then
        perform return_facts(target_space, undo_id, taken, others);
    end if;
    select names || coalesce(jsonb_agg(to_jsonb(p)), '[]') into plan from plan_space_undo(target_space, taken, others) p;
    -- The split left a relation ended if an equal relation was valid. Revive it if this undo removes the equal one.
    plan := plan || (
        with step as (
            select p.* from jsonb_to_recordset(plan) p(action text, kind text, id uuid) where p.kind = 'relation' and p.action in ('remove', 'revive')
        ), split as (
            select n.former -> 'ended' as ended from jsonb_to_recordset(names) n(action text, former jsonb) where n.action = 'remove'
            union all
            select e.detail -> 'ended' from event e
            where e.space_id = target_space and e.action = 'split' and e.detail ? 'merge' and exists (select from step)
        )
        select coalesce(jsonb_agg(jsonb_build_object(
            'action', 'revive', 'kind', 'relation', 'id', c.id, 'entity_id', c.from_entity, 'valid_until', c.until)), '[]')
        from (
            select distinct on (r.from_entity, r.relation_type, r.to_entity) r.id, r.from_entity, m.valid_until as until
            from split
            cross join lateral jsonb_populate_recordset(null::merged, split.ended) m
            join relation r on r.space_id = target_space and r.id = m.id and r.valid_until = m.ended
            join relation l on l.space_id = target_space and l.from_entity = r.from_entity and l.relation_type = r.relation_type
                and l.to_entity = r.to_entity and l.valid_until is null
            join step on step.id = l.id and step.action = 'remove'
            where m.kind = 'relation' and r.id not in (select step.id from step)
              and not exists (select from merge g where g.space_id = target_space and g.id = m.merge_id)
              and not exists (
                  select from step other join relation o on o.space_id = target_space and o.id = other.id
                  where other.action = 'revive' and o.from_entity = r.from_entity and o.relation_type = r.relation_type
                    and o.to_entity = r.to_entity)
            order by r.from_entity, r.relation_type, r.to_entity, r.created_at, r.id) c);
    select count(*) filter (where p.action = 'remove'), count(*) filter (where p.action = 'hand over'),
        count(*) filter (where p.action = 'revive'), count(*) filter (where p.action = 'drop entity'),
        count(*) filter (where p.action = 'lost'), count(*) filter (where p.action = 'kept'),
        count(*) filter (where p.action = 'move back'), count(*) filter (where p.action = 'retype'),
        count(*) filter (where p.action = 'reset')
    into removed, handed_over, revived, dropped, lost, kept, moved, retyped, reset
    from jsonb_to_recordset(plan) p(action text);
    perform keep_undone(target_space, undo_id, plan);
    perform restore_items(target_space, taken);

    perform withdraw_words(target_space, array(
        select d.id from undone d
        where d.space_id = target_space and d.undo_id = undo_events.undo_id and d.action = 'remove' and d.kind in ('observation', 'relation')));
    perform claim_rows(target_space,
        array(select d.id from undone d where d.space_id = target_space and d.undo_id = undo_events.undo_id and d.kind = 'observation'),
        array(select d.id from undone d where d.space_id = target_space and d.undo_id = undo_events.undo_id and d.kind = 'relation'));
    -- Revive facts before any deletion, because deleting a fact sets replaced_by to null in the facts that point to it.
    update observation o
    set valid_until = former.until, replaced_by = former.by,
        closed_at = case when former.by is not null or former.until = o.closed_at then former.until end
    from undone d
    cross join lateral (
        select (d.after ->> 'valid_until')::timestamptz as until, (d.after ->> 'replaced_by')::uuid as by) former
    where d.space_id = target_space and d.undo_id = undo_events.undo_id and d.action = 'revive' and d.kind = 'observation'
      and o.space_id = target_space and o.id = d.id;
    -- Memories whose facts were revived get the status that they had before they ended.
    update retention r
    set status = case when r.promoted_at is null then 'active' else 'promoted' end, ended_at = null
    from undone d
    where d.space_id = target_space and d.undo_id = undo_events.undo_id and d.action = 'revive' and d.kind = 'observation'
      and r.space_id = target_space and r.observation_id = d.id and r.status in ('archived', 'removed');
    delete from revision r using undone d
    where d.space_id = target_space and d.undo_id = undo_events.undo_id and d.action = 'revive' and d.kind = 'observation'
      and r.space_id = target_space and r.observation_id = d.id;
    perform reset_values(target_space, d.id, d.after)
    from undone d
    where d.space_id = target_space and d.undo_id = undo_events.undo_id and d.action = 'reset' and d.kind = 'observation';
    perform settle_document(d.id, (d.after ->> 'version')::bigint, origin)
    from undone d
    where d.space_id = target_space and d.undo_id = undo_events.undo_id and d.kind = 'document';
    update observation o
    set author_id = (d.after ->> 'author_id')::integer, client = d.after ->> 'client',
        tool = d.after ->> 'tool', request = d.after ->> 'request'
    from undone d
    where d.space_id = target_space and d.undo_id = undo_events.undo_id and d.action = 'hand over' and o.space_id = target_space and o.id = d.id;
    update relation r
    set author_id = (d.after ->> 'author_id')::integer, client = d.after ->> 'client',
        tool = d.after ->> 'tool', request = d.after ->> 'request'
    from undone d
    where d.space_id = target_space and d.undo_id = undo_events.undo_id and d.action = 'hand over' and r.space_id = target_space and r.id = d.id;
    perform change_nodes(target_space, undo_id, false);
    delete from reflection f using undone d
    where d.space_id = target_space and d.undo_id = undo_events.undo_id and d.action = 'remove' and d.kind = 'reflection'
      and f.space_id = target_space and f.id = d.id;
    delete from dismissal w using undone d
    where d.space_id = target_space and d.undo_id = undo_events.undo_id and d.action = 'remove' and d.kind = 'dismissal'
      and w.space_id = target_space and w.id = d.id;
    delete from observation o using undone d
    where d.space_id = target_space and d.undo_id = undo_events.undo_id and d.action = 'remove' and d.kind = 'observation'
      and o.space_id = target_space and o.id = d.id;
    delete from relation r using undone d
    where d.space_id = target_space and d.undo_id = undo_events.undo_id and d.action = 'remove' and d.kind = 'relation'
      and r.space_id = target_space and r.id = d.id;
    update relation r
    set valid_until = (d.after ->> 'valid_until')::timestamptz,
        closed_at = case when (d.after ->> 'valid_until')::timestamptz = r.closed_at then r.closed_at end
    from undone d
    where d.space_id = target_space and d.undo_id = undo_events.undo_id and d.action = 'revive' and d.kind = 'relation'
      and r.space_id = target_space and r.id = d.id;
    delete from entity e using undone d
    where d.space_id = target_space and d.undo_id = undo_events.undo_id and d.action = 'drop entity' and e.space_id = target_space and e.id = d.id
      and not exists (select from observation o where o.space_id = target_space and o.entity_id = e.id);
    -- An entity that was dropped can have had the name of an alias.
    perform undo_aliases(target_space, undo_id);
    perform set_graph_values(target_space, d.kind, d.id, d.after)
    from undone d
    where d.space_id = target_space and d.undo_id = undo_events.undo_id and d.action = 'reset' and d.kind in ('entity', 'relation');
    perform return_relations(target_space, undo_id);
    perform settle_proposals(target_space, undo_id, array(
        select unnest(u.events) from undo u where u.space_id = target_space and u.reverted_at is null));
    moved := moved + (select count(*) from undone d where d.space_id = target_space and d.undo_id = undo_events.undo_id and d.action = 'return');
    perform record_undone('undone', target_space, undo_id, origin);
end
$$;

comment on function textrawl.undo_events is
    'Undo events of one author in one space. undo_author() calls this after it has locked the entities.';
