create function textrawl.events_to_undo(
    space integer, author integer, since timestamptz,
    run uuid default null  -- only the events of this import
) returns bigint[]
language sql stable
begin atomic
    with author_event as materialized (
        select e.id, e.at, e.action, e.observation_id, e.detail from textrawl.event e
        where e.space_id = space and e.actor_id = author and e.at >= since - interval '1 hour'
          and (run is null or e.request = 'import ' || run)
          and textrawl.can_undo(e.action)
    ), call as (
        select author_event.at from author_event where author_event.at >= since
        union
        -- All events of a call have the time at which its transaction started. The facts of the call have slightly
        -- later times, and users choose `since` by the times of facts.
        select author_event.at from author_event
        join textrawl.observation o on o.space_id = space and o.id = author_event.observation_id
        where o.created_at >= since and author_event.action in ('remembered', 'replaced')
    ), chosen as (
        select author_event.id, author_event.detail from author_event
        where author_event.at in (select call.at from call)
          -- An acceptance stores the fact in the name of another author. Its events belong to the reviewer.
          and not exists (
              select from textrawl.event a
              where a.space_id = space and a.at = author_event.at and a.action = 'accepted' and a.actor_id <> author
                and a.detail -> 'events' @> to_jsonb(author_event.id))
    )
    select array_agg(taken.id order by taken.id)
    from (select chosen.id from chosen
          union
          select made.value::bigint from chosen, jsonb_array_elements_text(chosen.detail -> 'events') made) taken
    where taken.id not in (select unnest(u.events) from textrawl.undo u where u.space_id = space and u.reverted_at is null);
end;

comment on function textrawl.events_to_undo is
    'The ids of the events that the calls of an author since an instant caused in a space, without events that are '
    'already undone. An acceptance includes the events that it caused in the name of the author of the proposal. Null if '
    'there are no such events.';
