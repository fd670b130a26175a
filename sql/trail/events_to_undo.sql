create function textrawl.events_to_undo(
    space integer, author integer, since timestamptz,
    spaces integer[] default '{}',  -- the spaces that are undone together; moves between them are undone
    run uuid default null         -- only the events of this import
) returns bigint[]
language sql stable
begin atomic
    with author_event as materialized (
        select e.id, e.at, e.action, e.observation_id, e.relation_id, e.detail from textrawl.event e
        where e.space_id = space and e.actor_id = author and e.at >= since - interval '1 hour'
          and (run is null or e.request = 'import ' || run)
          and textrawl.can_undo(e.action)
    ), acceptance as materialized (
        -- An acceptance stores the fact of another author at its own time. Its events belong to the acceptance, and to
        -- the proposal, but not to what the author wrote at that time.
        select e.at >= since and e.actor_id = author as own, made.value::bigint as id,
            exists (select from textrawl.event p
                    where p.space_id = space and p.detail ? 'proposal' and p.detail ->> 'proposal' = e.detail ->> 'proposal'
                      and p.action = 'proposed' and p.actor_id = author and p.at >= since) as proposed
        from textrawl.event e, jsonb_array_elements_text(e.detail -> 'events') made
        where run is null and e.space_id = space and e.action = 'accepted' and e.at >= since - interval '1 hour'
    ), split_call as (
        -- All events of a call have the time at which its transaction started. The facts of the call have slightly
        -- later times, and users choose `since` by the times of facts. So if a call stored a fact after `since`, undo
        -- all events of the call.
        select author_event.at from author_event
        join textrawl.observation o on o.space_id = space and o.id = author_event.observation_id
        where author_event.at < since and o.created_at >= since and author_event.action in ('remembered', 'replaced')
    )
    select array_agg(chosen.id order by chosen.id)
    from (
        select author_event.id from author_event
        where (author_event.at >= since or author_event.at in (select split_call.at from split_call))
          and author_event.id not in (select acceptance.id from acceptance)
        union
        select acceptance.id from acceptance where acceptance.own or acceptance.proposed) chosen
    where chosen.id not in (
            select unnest(u.events) from textrawl.undo u where u.space_id = space and u.reverted_at is null)
      and not exists (
            select from textrawl.event e
            where e.space_id = space and e.id = chosen.id and e.detail ? 'move'
              and not textrawl.can_undo_move(spaces, e.action, e.detail, coalesce(e.observation_id, e.relation_id)));
end;

comment on function textrawl.events_to_undo is
    'The ids of the events of an author in a space since an instant, without events that are already undone '
    'and without moves that cannot be undone. An acceptance includes the events that it caused in the name of the author of the proposal. Null if there are no such '
    'events.';
