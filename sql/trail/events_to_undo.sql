create function textrawl.events_to_undo(space integer, author integer, since timestamptz) returns bigint[]
language sql stable
set search_path from current
begin atomic
    with author_event as materialized (
        select e.id, e.at, e.action, e.observation_id from textrawl.event e
        where e.space_id = space and e.actor_id = author and e.at >= since - interval '1 hour'
          and e.action in ('created', 'remembered', 'repeated', 'updated', 'replaced', 'related', 'forgotten',
                           'retyped', 'ended', 'moved', 'reflected', 'faded', 'described',
                           'written', 'deleted', 'erased', 'revised', 'named', 'unnamed', 'merged', 'split')
    ), split_call as (
        -- All events of a call have the time at which its transaction started. The facts of the call have slightly
        -- later times, and users choose `since` by the times of facts. So if a call stored a fact after `since`, undo
        -- all events of the call.
        select author_event.at from author_event
        join textrawl.observation o on o.space_id = space and o.id = author_event.observation_id
        where author_event.at < since and o.created_at >= since and author_event.action in ('remembered', 'replaced')
    )
    select array_agg(author_event.id order by author_event.id) from author_event
    where (author_event.at >= since or author_event.at in (select split_call.at from split_call))
      and author_event.id not in (
            select unnest(u.events) from textrawl.undo u where u.space_id = space and u.reverted_at is null);
end;

comment on function textrawl.events_to_undo is
    'The ids of the events of an author in a space since an instant, without events that are already undone. Null if '
    'there are no such events.';
