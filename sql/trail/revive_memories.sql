create function textrawl.revive_memories(space integer, undo bigint) returns void
language sql volatile
begin atomic
    update textrawl.retention r
    set status = case when r.promoted_at is null then 'active' else 'promoted' end, ended_at = null
    from textrawl.undone d
    where d.space_id = space and d.undo_id = undo and d.action = 'revive' and d.kind = 'observation'
      and r.space_id = space and r.observation_id = d.id and r.status in ('archived', 'removed');
end;

comment on function textrawl.revive_memories is
    'Give memories whose facts an undo revived the status that they had before they ended.';
