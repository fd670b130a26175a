create function textrawl.former_facts(space integer, taken bigint[], gone uuid[])
returns table (
    id uuid, entity_id uuid,
    action text,   -- revive, move back or reset
    former jsonb,  -- the values to set, by column; null: the fact stays as it is
    equal uuid     -- an equal fact that is valid, so that this fact stays ended
)
language sql stable
begin atomic
    with withdrawn as materialized (
        -- What was undone before counts again for a fact that stayed ended because of an equal one that goes now.
        select e.id from textrawl.fact o
        join textrawl.event e on e.space_id = space and (e.observation_id = o.id or e.detail ? 'replaced' and e.detail ->> 'replaced' = o.id::text)
        join textrawl.undo u on u.space_id = space and u.reverted_at is null and e.id = any(u.events)
        where o.space_id = space and o.replaced_by = any(gone)
    ), own_event as materialized (
        select e.* from textrawl.event e
        where e.space_id = space and (e.id = any(taken) or e.id in (select withdrawn.id from withdrawn))
    ), change as (
        select e.observation_id as id, e.id as event_id, v.key, v.value, e.detail -> 'after' -> v.key as after
        from own_event e cross join lateral jsonb_each(e.detail -> 'before') v
        where e.detail ? 'before'
        union all
        select (e.detail ->> 'replaced')::uuid, e.id, v.key, coalesce(v.value, 'null'), null
        from own_event e
        cross join lateral (values ('valid_until', e.detail -> 'until'), ('replaced_by', e.detail -> 'by')) v (key, value)
        where e.detail ? 'replaced' and e.detail ? 'until'
        union all
        -- The parts of a long memory fade with its first part.
        select p.id, e.id, 'valid_until', coalesce(e.detail -> 'until', 'null'), null
        from own_event e
        join textrawl.fact o on o.space_id = space and o.id = e.observation_id
        join textrawl.fact p on p.space_id = space and (p.id = o.id or e.action = 'faded' and p.whole = o.whole
            and p.entity_id = o.entity_id and p.valid_until = o.valid_until)
        where e.action in ('ended', 'faded')
        union all
        select e.observation_id, e.id, 'entity_id', e.detail -> 'from', null
        from own_event e where e.action = 'moved'
    ), oldest as (
        select distinct on (c.id, c.key) c.id, c.key, c.value, c.event_id,
            last_value(c.after) over (partition by c.id, c.key order by c.event_id
                                      rows between unbounded preceding and unbounded following) as after
        from change c order by c.id, c.key, c.event_id
    ), step as (
        select o.id, o.entity_id as present_entity,
            case when v.keys ? 'entity_id' then 'move back' when v.ended then 'revive' else 'reset' end as action,
            v.keys || case when not v.keys ? 'valid_until' then '{}'
                -- An end that has passed stays passed, whatever the clock says later.
                else jsonb_build_object('closed_at', case
                    when v.until = o.closed_at or v.keys ->> 'replaced_by' is not null then v.until else textrawl.past_end(v.until) end) end as former,
            o as fact
        from (select oldest.id, jsonb_object_agg(oldest.key, oldest.value) as keys,
                  (jsonb_object_agg(oldest.key, oldest.value) ->> 'valid_until')::timestamptz as until,
                  bool_or(e.action <> 'updated' and oldest.key = 'valid_until') as ended
              from oldest
              join textrawl.event e on e.space_id = space and e.id = oldest.event_id
              join textrawl.observation p on p.space_id = space and p.id = oldest.id
              -- Somebody can have confirmed the fact since.
              where oldest.after is null or jsonb_populate_record(p, jsonb_build_object(oldest.key, oldest.after)) is not distinct from p
              group by oldest.id) v
        join textrawl.observation o on o.space_id = space and o.id = v.id and o.relation_id is null
        where o.id <> all(gone)
    ), planned as (
        select step.*, n as next, textrawl.equal_fact(n, gone) as equal,
            not exists (select from textrawl.entity e where e.space_id = space and e.id = n.entity_id) as lost
        from step cross join lateral jsonb_populate_record(step.fact, step.former || jsonb_build_object(
            -- The successor can have been forgotten.
            'replaced_by', (select f.id from textrawl.fact f where f.space_id = space and f.id <> all(gone)
                and f.id = case when step.former ? 'replaced_by' then (step.former ->> 'replaced_by')::uuid else (step.fact).replaced_by end))) n
    )
    select p.id, p.present_entity, case when p.equal is null then p.action else 'reset' end,
        case when not p.lost and p.equal is null and not exists (
            -- Only the newest of several equal facts is valid again.
            select from planned twin
            where twin.id <> p.id and ((twin.next).entity_id, (twin.next).content_hash, (twin.next).whole, (twin.next).part)
                    is not distinct from ((p.next).entity_id, (p.next).content_hash, (p.next).whole, (p.next).part)
              and ((twin.next).created_at, twin.id) > ((p.next).created_at, p.id)
              and textrawl.is_repetition((twin.next).valid_from, (twin.next).created_at, (p.next).valid_from, (p.next).created_at)
              and textrawl.is_valid((twin.next).valid_from, (twin.next).valid_until, (twin.next).closed_at)
              and textrawl.is_valid((p.next).valid_from, (p.next).valid_until, (p.next).closed_at))
        then (select jsonb_object_agg(k.key, to_jsonb(p.next) -> k.key) from jsonb_object_keys(p.former || case
                  when p.former ? 'valid_until' then '{"replaced_by": null}'::jsonb else '{}' end) k (key))
        when (p.fact).replaced_by = any(gone) then jsonb_build_object('replaced_by', p.equal) end,
        p.equal
    from planned p
    where to_jsonb(p.next) <> to_jsonb(p.fact);
end;

comment on function textrawl.former_facts is
    'The facts that events changed, with the values that they had before the oldest of these events.';
