create function textrawl.plan_ended(space integer, taken bigint[], withdrawn bigint[], gone uuid[])
returns table (
    id uuid, entity_id uuid,
    until timestamptz  -- the former end of the fact
)
language sql stable
begin atomic
    with last as (
        -- Look at the last event that ended a fact. If this event is not withdrawn, the fact stays ended.
        select distinct on (e.observation_id) e.observation_id, e.id as event_id, e.detail
        from textrawl.event e
        where e.space_id = space and e.action = 'ended' and e.observation_id in (
            select o.observation_id from textrawl.event o where o.space_id = space and o.id = any(taken) and o.action = 'ended')
        order by e.observation_id, e.id desc
    )
    select o.id, o.entity_id, case when updated.value ? 'valid_until' then (updated.value ->> 'valid_until')::timestamptz
                                   else (last.detail ->> 'until')::timestamptz end
    from last
    join textrawl.fact o on o.space_id = space and o.id = last.observation_id
    -- A withdrawn update can have set the end of a fact that ended later. So compute the end without withdrawn updates.
    cross join lateral (select textrawl.fact_values(space, o.id, withdrawn) as value) updated
    where last.event_id = any(withdrawn) and o.replaced_by is null and o.valid_until is not null and o.id <> all(gone)
      and not exists (select from textrawl.revision r where r.space_id = space and r.observation_id = o.id)
      and not exists (
        -- If somebody stored the same text again meanwhile, only one of the two facts stays valid.
        select from textrawl.fact newer
        where newer.space_id = space and newer.entity_id = o.entity_id and newer.content_hash = o.content_hash
          and (newer.whole, newer.part) is not distinct from (o.whole, o.part) and newer.id <> o.id and newer.id <> all(gone)
          and textrawl.is_repetition(newer.valid_from, newer.created_at, o.valid_from, o.created_at)
          and textrawl.is_valid(newer.valid_from, newer.valid_until, newer.closed_at));
end;

comment on function textrawl.plan_ended is
    'The facts that the undo of some events makes valid again: they ended because their node was deleted.';
