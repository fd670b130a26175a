create function textrawl.plan_memories(space integer, taken bigint[], withdrawn bigint[])
returns table (
    id uuid, entity_id uuid,
    until timestamptz  -- the former end of the fact
)
language sql stable
begin atomic
    with last as (
        -- The last event that ended a memory counts. If an event that is not withdrawn ended it later, it stays ended.
        select distinct on (e.observation_id) e.observation_id, e.id as event_id, e.detail
        from textrawl.event e
        where e.space_id = space and e.action = 'faded'
          and e.observation_id in (select o.observation_id from textrawl.event o where o.space_id = space and o.id = any(taken) and o.action = 'faded')
        order by e.observation_id, e.id desc
    )
    select p.id, p.entity_id, (last.detail ->> 'until')::timestamptz
    from last
    join textrawl.retention r on r.space_id = space and r.observation_id = last.observation_id and r.status in ('archived', 'removed')
    join textrawl.fact o on o.space_id = space and o.id = last.observation_id
    -- The other parts of a long memory ended with the first part.
    join textrawl.fact p on p.space_id = space and (p.id = o.id or o.whole is not null and p.whole = o.whole
        and p.entity_id = o.entity_id and p.valid_until = o.valid_until)
    where last.event_id = any(withdrawn) and o.replaced_by is null
      and not exists (select from textrawl.revision r where r.space_id = space and r.observation_id = p.id)
      and not exists (
        -- Somebody saved the text again meanwhile. Only one of both stays valid.
        select from textrawl.fact newer
        where newer.space_id = space and newer.entity_id = o.entity_id and newer.content_hash = o.content_hash
          and (newer.whole, newer.part) is not distinct from (o.whole, o.part) and newer.id <> o.id
          and textrawl.is_valid(newer.valid_from, newer.valid_until, newer.closed_at));
end;

comment on function textrawl.plan_memories is
    'The facts of memories that the undo of some events makes valid again: gc or a consolidation ended them. All parts '
    'of a long memory are listed.';
