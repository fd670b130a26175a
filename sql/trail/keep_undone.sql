create function textrawl.keep_undone(space integer, undo bigint, plan jsonb) returns void
language sql volatile
begin atomic
    insert into textrawl.undone (space_id, undo_id, action, kind, id, names, entities, before, after)
    select space, undo, p.action, p.kind, p.id,
        array(select distinct e.name_key from textrawl.entity e
              where e.space_id = space and e.id in (p.entity_id, r.to_entity, (p.former ->> 'entity_id')::uuid)),
        case when p.action in ('remove', 'move back') then (
            select coalesce(jsonb_agg(to_jsonb(e) - 'fts' || textrawl.node_record(space, e.id)), '[]') from textrawl.entity e
            where e.space_id = space and e.id in (p.entity_id, r.to_entity, (p.former ->> 'entity_id')::uuid))
        when p.action = 'drop entity' then jsonb_build_array(to_jsonb(n) - 'fts' || textrawl.node_record(space, n.id))
        else '[]' end,
        case when p.kind in ('alias', 'merge') then p.former when p.kind = 'document' then jsonb_build_object('version', c.version) else case p.action
        when 'remove' then case p.kind
            when 'observation' then to_jsonb(o) - '{fts,claim}'::text[] || textrawl.memory_record(space, p.id)
            when 'relation' then to_jsonb(r) || textrawl.edge_record(space, r.id) when 'dismissal' then to_jsonb(w) else to_jsonb(f) - 'fts' end
        when 'move back' then jsonb_build_object('entity_id', o.entity_id)
        when 'retype' then jsonb_build_object('entity_type', n.entity_type, 'metadata', n.metadata, 'type_guessed', n.type_guessed)
        when 'drop entity' then to_jsonb(n) - 'fts'
        when 'revive' then jsonb_build_object('valid_until', coalesce(o.valid_until, r.valid_until),
            'closed_at', coalesce(o.closed_at, r.closed_at), 'replaced_by', o.replaced_by)
            || case when p.kind = 'observation' then textrawl.memory_record(space, p.id) else '{}' end
        when 'reset' then case when p.kind <> 'observation' then '{}' else (
            select jsonb_object_agg(changed.key, jsonb_build_object(
                'source', o.source, 'confidence', o.confidence, 'valid_until', o.valid_until,
                'said_at', o.said_at, 'confirmed_at', o.confirmed_at) -> changed.key)
            from jsonb_each(p.former) changed) end
        else jsonb_build_object('author_id', coalesce(o.author_id, r.author_id), 'client', coalesce(o.client, r.client),
                                'tool', coalesce(o.tool, r.tool), 'request', coalesce(o.request, r.request)) end end,
        case p.action
        when 'move back' then p.former
        when 'retype' then p.former
        when 'revive' then jsonb_build_object('valid_until', p.valid_until, 'replaced_by', p.replaced_by)
        when 'reset' then p.former
        when 'hand over' then jsonb_build_object('author_id', v.actor_id, 'client', v.client, 'tool', v.tool, 'request', v.request) end
    from jsonb_to_recordset(plan)
        p(action text, kind text, id uuid, entity_id uuid, event_id bigint, valid_until timestamptz, replaced_by uuid, former jsonb)
    left join textrawl.observation o on o.space_id = space and o.id = p.id and p.kind = 'observation'
    left join textrawl.reflection f on f.space_id = space and f.id = p.id and p.kind = 'reflection'
    left join textrawl.relation r on r.space_id = space
        and r.id = case p.kind when 'relation' then p.id when 'reflection' then f.relation_id end
    left join textrawl.entity n on n.space_id = space and n.id = p.id and p.kind = 'entity'
    left join textrawl.document c on c.space_id = space and c.id = p.id and p.kind = 'document'
    left join textrawl.dismissal w on w.space_id = space and w.id = p.id and p.kind = 'dismissal'
    left join textrawl.event v on v.space_id = space and v.id = p.event_id
    where p.action not in ('lost', 'kept');
end;

comment on function textrawl.keep_undone is
    'Store the rows and values that a revert needs, for each row of a plan of plan_space_undo().';
