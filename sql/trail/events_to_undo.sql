create function textrawl.events_to_undo(space integer, author integer, since timestamptz) returns bigint[]
language sql stable
set search_path from current
begin atomic
    with author_event as materialized (
        select e.id, e.at, e.action, e.observation_id from textrawl.event e
        where e.space_id = space and e.actor_id = author and e.at >= since - interval '1 hour'
          and e.action in ('created', 'remembered', 'repeated', 'updated', 'replaced', 'related', 'forgotten',
                           'retyped', 'ended', 'moved', 'reflected')
    ), split_call as (
        -- Undo a call as a whole. All its events have the time when the transaction started; its facts are a little later,
        -- and users choose an instant by those.
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
    'The events of an author in a space since an instant that no undo has reverted yet; null if there are none.';
