create function textrawl.record_event(
    action text, entity uuid, observation uuid, relation uuid, origin textrawl.origin, detail jsonb default '{}'
) returns void
language plpgsql volatile
set search_path from current
as $$
begin
    insert into event (space_id, actor_id, client, tool, request, action, entity_id, observation_id, relation_id, detail)
    values (origin.space_id, origin.author_id, origin.client, origin.tool, origin.request, action, entity, observation, relation, detail);
end
$$;

comment on function textrawl.record_event is
    'Add an event to the trail. Every function that writes calls record_event() in the same transaction. This function '
    'does not use NOTIFY, because any login could fill the queue of notifications, and then every write would fail.';
