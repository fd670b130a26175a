create function textrawl.plan_kept(space integer, taken bigint[])
returns table (
    kind text, id uuid, entity_id uuid,  -- as in plan_space_undo()
    later_id integer, later_at timestamptz
)
language sql stable
begin atomic
    select distinct on (r.kind, r.id)
        case when r.kind = 'fact' then 'observation' when r.kind in ('type', 'node', 'move') then 'entity' else r.kind end,
        r.id, coalesce(o.entity_id, n.from_entity, m.kept_id, e.entity_id), l.actor_id, l.at
    from textrawl.find_kept(space, taken) k
    join textrawl.event e on e.space_id = space and e.id = k.event_id
    join textrawl.event l on l.space_id = space and l.id = k.later_id
    cross join lateral textrawl.event_rows(e) r
    left join textrawl.fact o on o.space_id = space and o.id = r.id and r.kind = 'fact'
    left join textrawl.relation n on n.space_id = space and n.id = r.id and r.kind = 'relation'
    left join textrawl.merge m on m.space_id = space and m.merged_id = r.id and r.kind = 'merge'
    where r.changes and (r.kind not in ('fact', 'relation', 'merge') or num_nonnulls(o.id, n.id, m.id) = 1)
    order by r.kind, r.id, k.later_id desc;
end;

comment on function textrawl.plan_kept is
    'The rows that events of an undo changed and that stay, because a later event that stays builds on them, with the '
    'author and the time of that event, and the merges that are not split.';
