create function textrawl.plan_values(
    space integer, facts uuid[],
    before bigint[],  -- events that are withdrawn before the change
    after bigint[],   -- events that are withdrawn after the change
    gone uuid[]       -- facts that are removed at the same time
) returns table (
    id uuid, entity_id uuid,
    former jsonb      -- the values to set, {source, confidence, valid_until, said_at, confirmed_at}
)
language sql stable
begin atomic
    with fact as materialized (
        select o.id, o.entity_id, o.content_hash, o.whole, o.part, o.source, o.confidence, o.valid_from, o.valid_until, o.said_at,
            o.created_at, o.confirmed_at, textrawl.fact_values(space, o.id, before) as now, textrawl.fact_values(space, o.id, after) as next
        from textrawl.fact o where o.space_id = space and o.id = any(facts)
    ), timed as materialized (
        select f.id, (f.now ->> 'valid_until')::timestamptz as now, (f.next ->> 'valid_until')::timestamptz as next from fact f
    ), planned as (
        -- Change a value only if it is still as the updates left it. For example, a correction can have ended the fact
        -- after the updates.
        select f.id, f.entity_id,
            case when f.next ->> 'source' <> f.source and f.now ->> 'source' = f.source
                 then jsonb_build_object('source', f.next -> 'source') else '{}' end
            || case when (f.next ->> 'confidence')::real <> f.confidence and (f.now ->> 'confidence')::real = f.confidence
                 then jsonb_build_object('confidence', f.next -> 'confidence') else '{}' end
            || case when (f.next ->> 'said_at')::timestamptz <> f.said_at and (f.now ->> 'said_at')::timestamptz = f.said_at
                 then jsonb_build_object('said_at', f.next -> 'said_at') else '{}' end
            || case when f.next ? 'confirmed_at'
                 and (f.next ->> 'confirmed_at')::timestamptz is distinct from f.confirmed_at
                 and (f.now ->> 'confirmed_at')::timestamptz is not distinct from f.confirmed_at
                 then jsonb_build_object('confirmed_at', f.next -> 'confirmed_at') else '{}' end
            || case when f.next ? 'valid_until' and t.next is distinct from f.valid_until and t.now is not distinct from f.valid_until
                 -- If the same text was stored again after the end of the fact, the fact stays ended.
                 and not exists (
                     select from textrawl.fact o
                     where o.space_id = space and o.entity_id = f.entity_id and o.content_hash = f.content_hash
                       and (o.whole, o.part) is not distinct from (f.whole, f.part)
                       and o.id <> f.id and o.id <> all(gone)
                       and textrawl.is_repetition(o.valid_from, o.created_at, f.valid_from, f.created_at)
                       and o.created_at >= f.valid_until and (t.next is null or t.next > f.valid_until))
                 -- If an author stated the fact again while the update kept it valid, the fact must not end before that
                 -- time.
                 and not exists (
                     select from textrawl.event e
                     where e.space_id = space and e.observation_id = f.id and e.id <> all(after)
                       and textrawl.states_fact(e.action, e.observation_id, e.detail) and e.at >= t.next
                       -- Compare the order of the events, because an event can set an end before its own time.
                       and e.id > coalesce((
                           select max(s.id) from textrawl.event s
                           where s.space_id = space and s.observation_id = f.id and s.id <> all(after)
                             and s.detail -> 'after' ? 'valid_until'), (
                           select min(s.id) from textrawl.event s
                           where s.space_id = space and s.observation_id = f.id
                             and textrawl.states_fact(s.action, s.observation_id, s.detail))))
                 then jsonb_build_object('valid_until', f.next -> 'valid_until') else '{}' end as former
        from fact f join timed t on t.id = f.id
    )
    select p.id, p.entity_id, p.former from planned p where p.former <> '{}';
end;

comment on function textrawl.plan_values is
    'The values that facts must get if the withdrawn events change from "before" to "after". plan_space_undo() says '
    'which events are withdrawn.';
