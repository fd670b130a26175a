create function textrawl.keep_undone(space integer, undo bigint, plan jsonb) returns void
language sql volatile
begin atomic
    insert into textrawl.undone (space_id, undo_id, action, kind, id, names, entities, before, after)
    select space, undo, p.action, p.kind, p.id,
        array(select distinct e.name_key from textrawl.entity e
              where e.space_id = space and e.id in (p.entity_id, r.to_entity, (p.former ->> 'entity_id')::uuid)),
        case when p.action in ('remove', 'move back', 'drop entity') then (
            select coalesce(jsonb_agg(to_jsonb(e) - 'fts' || textrawl.node_record(space, e.id)), '[]') from textrawl.entity e
            where e.space_id = space and e.id in (p.entity_id, r.to_entity, (p.former ->> 'entity_id')::uuid))
        else '[]' end,
        case when p.kind = 'alias' then p.former
        when p.kind = 'document' then jsonb_build_object('version', c.version)
        when p.action = 'remove' then case p.kind
            when 'observation' then to_jsonb(o) - '{fts,claim}'::text[] || textrawl.memory_record(space, p.id)
            when 'relation' then to_jsonb(r) || textrawl.edge_record(space, r.id) || jsonb_build_object('origin', (
                select textrawl.find_origin(o.origin, o.tool, o.client, o.source) from textrawl.observation o where o.space_id = space and o.id = r.id)) when 'dismissal' then to_jsonb(w) else to_jsonb(f) - 'fts' end
        when p.kind in ('relation', 'proposal') or p.kind = 'entity' and p.action = 'reset' then coalesce((
            select jsonb_object_agg(k, to_jsonb(r) -> k) from unnest('{valid_until,closed_at}'::text[]) k where p.action = 'revive'), '{}')
        when p.action = 'drop entity' then to_jsonb(n) - 'fts'
        -- A revert must not ask the clock whether an end has passed.
        else (select jsonb_object_agg(k, (coalesce(to_jsonb(o), to_jsonb(n))
                  || jsonb_build_object('closed_at', coalesce(
                      case when p.action = 'reset' then textrawl.past_end(o.valid_until) end, o.closed_at))) -> k)
              from jsonb_object_keys(p.former) k)
            || case when p.action = 'revive' then textrawl.memory_record(space, p.id) else '{}' end end,
        p.former
    from jsonb_to_recordset(plan) p(action text, kind text, id uuid, entity_id uuid, former jsonb)
    left join textrawl.observation o on o.space_id = space and o.id = p.id and p.kind = 'observation'
    left join textrawl.reflection f on f.space_id = space and f.id = p.id and p.kind = 'reflection'
    left join textrawl.relation r on r.space_id = space
        and r.id = case p.kind when 'relation' then p.id when 'reflection' then f.relation_id end
    left join textrawl.entity n on n.space_id = space and n.id = p.id and p.kind = 'entity'
    left join textrawl.document c on c.space_id = space and c.id = p.id and p.kind = 'document'
    left join textrawl.dismissal w on w.space_id = space and w.id = p.id and p.kind = 'dismissal'
    where p.action not in ('lost', 'kept');
end;

comment on function textrawl.keep_undone is
    'Store the rows and values that a revert needs, for each row of a plan of plan_space_undo().';
