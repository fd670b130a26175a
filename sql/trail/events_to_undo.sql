create function textrawl.events_to_undo(space integer, author integer, since timestamptz) returns bigint[]
language sql stable
set search_path from current
begin atomic
    with own as materialized (
        select e.id, e.at, e.action, e.observation_id from textrawl.event e
        where e.space_id = space and e.actor_id = author and e.at >= since - interval '1 hour'
          and e.action in ('created', 'remembered', 'repeated', 'updated', 'replaced', 'related', 'forgotten',
                           'retyped', 'ended', 'moved', 'reflected')
    ), split as (
        -- A call is taken back whole: its entities and relations are a little older than its facts, whose
        -- time is the one that people see. All events of a transaction bear the time of its start.
        select own.at from own
        join textrawl.observation o on o.space_id = space and o.id = own.observation_id
        where own.at < since and o.created_at >= since and own.action in ('remembered', 'replaced')
    )
    select array_agg(own.id order by own.id) from own
    where (own.at >= since or own.at in (select split.at from split))
      and own.id not in (select unnest(u.events) from textrawl.undo u where u.space_id = space and u.reverted_at is null);
end;

comment on function textrawl.events_to_undo is
    'The events of an author in a space since an instant that no undo has taken back yet; null: none.';
