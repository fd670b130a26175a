create function textrawl.plan_moves(space integer, author integer, since timestamptz, taken bigint[])
returns table (
    action text,  -- return, or kept (the move cannot be undone)
    entity_name text, kind text, id uuid, content text
)
language sql stable
begin atomic
    select 'return', kept.name, d.kind, d.id, coalesce(d.before ->> 'content', d.before ->> 'relation_type')
    from textrawl.event e
    join textrawl.undone d on d.space_id = e.space_id and d.undo_id = (e.detail ->> 'move')::bigint and d.action = 'remove'
    left join lateral (
        select n.value ->> 'name' as name from jsonb_array_elements(d.entities) n
        where n.value ->> 'id' = coalesce(d.before ->> 'entity_id', d.before ->> 'from_entity')) kept on true
    where e.space_id = plan_moves.space and e.id = any(taken) and e.action = 'transferred'
    union all
    select 'kept', n.name, case when e.observation_id is null then 'relation' else 'observation' end,
        coalesce(e.observation_id, e.relation_id), coalesce(o.content, r.relation_type)
    from textrawl.event e
    join textrawl.entity n on n.space_id = e.space_id and n.id = e.entity_id
    left join textrawl.fact o on o.space_id = e.space_id and o.id = e.observation_id
    left join textrawl.relation r on r.space_id = e.space_id and r.id = e.relation_id
    where e.space_id = plan_moves.space and e.actor_id = plan_moves.author and e.at >= plan_moves.since
      and e.action = 'shared' and e.detail ? 'move' and (o.id is not null or r.id is not null)
      and e.id <> all(coalesce(taken, '{}')) and e.id not in (
          select unnest(u.events) from textrawl.undo u where u.space_id = plan_moves.space and u.reverted_at is null);
end;

comment on function textrawl.plan_moves is
    'What an undo of some events does with moves: the rows that return to this space, and the copies that stay here.';
