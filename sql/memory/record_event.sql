create function textrawl.record_event(
    action text, entity uuid, observation uuid, relation uuid,
    space integer, author integer, client text, tool text, detail jsonb default '{}'
) returns void
language sql volatile
set search_path from current
begin atomic
    insert into textrawl.event (space_id, actor_id, client, tool, action, entity_id, observation_id, relation_id, detail)
    values (space, author, client, tool, action, entity, observation, relation, detail);
end;

comment on function textrawl.record_event is
    'Adds a line to the trail; called by every function that writes, in the same transaction.';
