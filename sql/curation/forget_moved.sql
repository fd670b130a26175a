create function textrawl.forget_moved(space integer, removed uuid[]) returns void
language sql volatile
begin atomic
    delete from textrawl.undone d
    using textrawl.event e
    where e.space_id = forget_moved.space and e.action = 'shared' and e.detail ? 'move'
      and (e.observation_id = any(removed) or e.relation_id = any(removed))
      and d.after ? 'copy' and d.after ->> 'copy' = coalesce(e.observation_id, e.relation_id)::text
      and (d.undo_id = (e.detail ->> 'move')::bigint or d.before -> 'move' = e.detail -> 'move');
end;

comment on function textrawl.forget_moved is
    'Delete what the source of a move keeps of facts and relations that are forgotten in the target.';
