create function textrawl.find_kept(space integer, taken bigint[])
returns table (
    event_id bigint,
    later_id bigint  -- the last event that builds on this event; of a merge, a split or a move, the event itself
)
language sql stable
begin atomic
    with recursive own_event as materialized (
        select e.* from textrawl.event e where e.space_id = space and e.id = any(taken)
    ), own_row as materialized (
        select e.id as event_id, r.* from own_event e cross join lateral textrawl.event_rows(e::textrawl.event) r
    ), changed as materialized (
        select own_row.kind, own_row.id, min(own_row.event_id) as since from own_row where own_row.changes group by 1, 2
    ), candidate as materialized (
        select e.id from changed c join textrawl.event e on e.space_id = space and e.observation_id = c.id
        where c.kind = 'fact' and e.id > c.since
        union
        select e.id from changed c join textrawl.event e on e.space_id = space and e.detail ? 'replaced' and e.detail ->> 'replaced' = c.id::text
        where c.kind = 'fact' and e.id > c.since
        union
        select e.id from changed c
        join textrawl.fact o on o.space_id = space and o.replaced_by = c.id
        join textrawl.event e on e.space_id = space and e.observation_id = o.id and e.detail ?| '{placed_before,by}'
        where c.kind = 'fact' and e.id > c.since
        union
        select e.id from changed c join textrawl.event e on e.space_id = space and e.relation_id = c.id
        where c.kind = 'relation' and e.id > c.since
        union
        select e.id from changed c join textrawl.event e on e.space_id = space and e.entity_id = c.id
        where c.kind in ('type', 'node') and e.id > c.since
        union
        select e.id from changed c join textrawl.event e on e.space_id = space and e.detail ? 'alias' and e.detail ->> 'alias' = c.id::text
        where c.kind = 'alias' and e.id > c.since
        union
        select e.id from changed c join textrawl.event e on e.space_id = space and e.detail ? 'document' and e.detail ->> 'document' = c.id::text
        where c.kind = 'document' and e.id > c.since
        union
        select e.id from changed c join textrawl.event e on e.space_id = space and e.detail ? 'proposal' and e.detail ->> 'proposal' = c.id::text
        where c.kind = 'proposal' and e.id > c.since
        union
        -- Merges that found the fact or relation twice.
        select e.id from (
            select m.merge_id, c.since from changed c join textrawl.merged m on m.space_id = space and m.id = c.id
            union
            select m.merge_id, c.since from changed c join textrawl.merged m on m.space_id = space and m.twin = c.id) m
        join textrawl.event e on e.space_id = space and e.detail ? 'merge' and e.detail ->> 'merge' = m.merge_id::text
        where e.id > m.since
        union
        select e.id from textrawl.event e
        where e.space_id = space and e.detail ? 'merge' and e.detail ? 'equals'
          and e.id > (select min(c.since) from changed c where c.kind = 'relation')
    ), later as materialized (
        select e.id as event_id, r.kind, r.id
        from candidate c join textrawl.event e on e.space_id = space and e.id = c.id
        cross join lateral textrawl.event_rows(e) r
        where textrawl.can_undo(e.action) and c.id not in (
            select unnest(taken)
            union all
            select unnest(u.events) from textrawl.undo u where u.space_id = space and u.reverted_at is null)
    ), kept (event_id, later_id) as (
        select o.event_id, l.event_id from own_row o join later l on l.kind = o.kind and l.id = o.id and l.event_id > o.event_id
        where o.changes
        union
        -- A merge is taken back by a split, and a move between spaces by another move.
        select e.id, e.id from own_event e
        where e.action in ('merged', 'split') or e.detail ? 'move' or e.action = 'accepted' and exists (
            select from textrawl.event m
            where m.space_id = space and m.action = 'merged'
              and m.id in (select made.value::bigint from jsonb_array_elements_text(e.detail -> 'events') made))
        union
        -- The values of a merged entity are kept for its split.
        select e.id, v.id from own_event e
        join textrawl.merge m on m.space_id = space
            and m.merged_id = case when e.action = 'moved' then (e.detail ->> 'from')::uuid else e.entity_id end
        join textrawl.event v on v.space_id = space and v.detail ? 'merge' and v.detail ->> 'merge' = m.id::text and v.action = 'merged'
        where e.relation_id is null and e.action in ('created', 'retyped', 'described', 'moved')
        union
        -- An event that stays keeps the earlier events on which it builds.
        select o.event_id, kept.later_id
        from kept
        join own_row k on k.event_id = kept.event_id
        join own_row o on o.kind = k.kind and o.id = k.id and o.event_id < k.event_id and o.changes
    )
    select kept.event_id, max(kept.later_id) from kept group by 1;
end;

comment on function textrawl.find_kept is
    'The events among those of an undo that stay, because a later event that stays builds on a row that they changed.';
