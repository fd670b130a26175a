create function textrawl.free_id(space integer, id uuid) returns uuid
language sql stable
begin atomic
    select n.renewed from textrawl.renewed_ids(free_id.id) n
    left join textrawl.observation o on o.space_id = free_id.space and o.id = n.renewed
    left join textrawl.relation r on r.space_id = free_id.space and r.id = n.renewed
    -- Skip an id only if the undo of an import keeps it. If another undo keeps it, the row is not imported again.
    where not exists (
        select from textrawl.undone d
        join textrawl.undo u on u.space_id = d.space_id and u.id = d.undo_id
        join textrawl.event e on e.space_id = d.space_id and d.id in (e.observation_id, e.relation_id) and e.id = any(u.events)
        where d.space_id = free_id.space and d.id = n.renewed and d.action = 'remove'
          and e.action in ('remembered', 'related') and e.request like 'import %')
    order by coalesce(o.id, r.id) is null, n.place limit 1;
end;

comment on function textrawl.free_id is
    'The id under which an import stores a fact or relation: the given one, or another if undos of imports keep it. Null: they keep all.';
