create function textrawl.events_of_call(
    space integer, actor integer,
    event bigint,  -- an event, with those that created its entities or ended facts in the same call
    call text      -- or all events of this actor with this request in the last day
) returns bigint[]
language sql stable
begin atomic
    with chosen as materialized (
        select e.* from textrawl.event e where e.space_id = space and e.id = event
        union all
        select e.* from textrawl.event e
        where event is null and e.space_id = space and e.actor_id = actor and e.at >= now() - interval '1 day' and e.request = call
    ), decision as materialized (
        -- Undo a decision as a whole: an acceptance also stored the fact of another author.
        select d.id, made.value::bigint as made
        from textrawl.event d left join jsonb_array_elements_text(d.detail -> 'events') made on true
        where d.space_id = space and d.action in ('accepted', 'rejected')
          and (d.id in (select id from chosen) or event is not null and made.value::bigint = event)
    ), own as (
        select id from chosen
        union
        select made.id
        from chosen
        left join textrawl.relation r on r.space_id = space and r.id = chosen.relation_id
        join textrawl.event made on made.space_id = space and made.action = 'created' and made.transaction = chosen.transaction
            and made.entity_id in (chosen.entity_id, r.from_entity, r.to_entity) and made.actor_id = chosen.actor_id
        union
        -- What a fact has ended when it was stored.
        select ending.id
        from chosen
        join textrawl.event ending on ending.space_id = space and ending.observation_id = chosen.observation_id and ending.action = 'replaced'
            and ending.transaction = chosen.transaction and ending.detail ? 'why'
        where not chosen.detail ? 'why'
        union
        select unnest(array[d.id, d.made]) from decision d
    )
    select array_agg(e.id order by e.id)
    from own join textrawl.event e on e.space_id = space and e.id = own.id
    where textrawl.can_undo(e.action)
      and e.id not in (select unnest(u.events) from textrawl.undo u where u.space_id = space and u.reverted_at is null);
end;

comment on function textrawl.events_of_call is
    'The events that undo_event() takes back, without those that are undone already. Null if there are none. If the event '
    'belongs to a decision, the decision and all its events.';
