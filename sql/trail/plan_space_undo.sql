create function textrawl.plan_space_undo(space integer, taken bigint[], others boolean default false)
returns table (
    -- The actions are described in plan_undo(). The action `hand over` gives the row another author.
    action text,              -- remove, hand over, revive, reset, move back, retype, drop entity, lost or kept
    kind text,                -- observation, relation, reflection, entity, document or proposal
    id uuid, entity_id uuid,
    event_id bigint,          -- hand over: the event in which the new author stated the row
    valid_until timestamptz,  -- revive: the former end of the row
    replaced_by uuid,         -- revive: the fact that still replaces this fact, or null
    former jsonb              -- reset, move back and retype: the former values
)
language sql stable
begin atomic
    with recursive earlier as materialized (
        select unnest(u.events) as id from textrawl.undo u where u.space_id = space and u.reverted_at is null
        -- While an undo runs, its own row is there already.
        except select unnest(taken)
    ), withdrawn as materialized (
        -- A withdrawn event is an event of this undo or of an earlier undo that was not reverted.
        select unnest(taken) as id
        union
        select id from earlier
    ), own_event as materialized (
        select e.* from textrawl.event e where e.space_id = space and e.id = any(taken)
    ), fact as materialized (
        -- For each fact, find an event that is not withdrawn and in which somebody stated the fact. If the
        -- author of the fact stated it in several of these events, take the first. If the author stated it in none of
        -- these events, take the first event of another author.
        select o.id, o.entity_id, o.author_id, support.id as event_id, support.actor_id
        from (
            select distinct observation_id from own_event
            where textrawl.states_fact(own_event.action, own_event.observation_id, own_event.detail)) t
        join textrawl.fact o on o.space_id = space and o.id = t.observation_id
        left join lateral (
            -- A copy keeps the author that it had in the other space, whoever shared it.
            select e.id, case when e.action = 'shared' then o.author_id else e.actor_id end as actor_id from textrawl.event e
            where e.space_id = space and e.observation_id = o.id and textrawl.states_fact(e.action, e.observation_id, e.detail)
              and e.id not in (select w.id from withdrawn w)
            order by e.actor_id <> o.author_id, e.id limit 1) support on true
        -- Skip facts that no event in the trail created. They stay with their author.
        where exists (
            select from textrawl.event e
            where e.space_id = space and e.observation_id = o.id
              and (e.action in ('remembered', 'shared') or e.action = 'replaced' and coalesce((e.detail ->> 'new')::boolean, true)))
    ), edge as materialized (
        select r.id, r.from_entity, r.to_entity, r.author_id, support.id as event_id, support.actor_id
        from (select distinct relation_id from own_event where own_event.action in ('related', 'repeated', 'shared')) t
        join textrawl.relation r on r.space_id = space and r.id = t.relation_id
        left join lateral (
            select e.id, case when e.action = 'shared' then r.author_id else e.actor_id end as actor_id from textrawl.event e
            where e.space_id = space and e.relation_id = r.id and e.action in ('related', 'repeated', 'shared')
              and e.id not in (select w.id from withdrawn w)
            order by e.actor_id <> r.author_id, e.id limit 1) support on true
        where exists (
            select from textrawl.event e where e.space_id = space and e.relation_id = r.id and e.action in ('related', 'shared'))
    ), own_reflection as materialized (
        select f.id, coalesce(f.entity_id, r.from_entity) as entity_id
        from own_event join textrawl.reflection f on f.space_id = space and f.id = (own_event.detail ->> 'reflection')::uuid
        left join textrawl.relation r on r.space_id = space and r.id = f.relation_id
        where own_event.action = 'reflected'
    ), removed_relation as materialized (
        -- Remove a relation with a reflection of another author only if `others` is true.
        select edge.id, edge.from_entity from edge
        where edge.event_id is null and (others or not exists (
            select from textrawl.reflection f
            where f.space_id = space and f.relation_id = edge.id and f.id not in (select own_reflection.id from own_reflection)))
    ), reopened as materialized (
        -- Take the ended relations that are not removed, if all events that ended them are withdrawn. Skip a relation
        -- if the same relation was stored again. If several of these relations are equal, take only the newest.
        select distinct on (r.from_entity, r.relation_type, r.to_entity) r.id, r.from_entity,
            case when updated.value ? 'valid_until' then (updated.value ->> 'valid_until')::timestamptz
                 else (own_event.detail ->> 'until')::timestamptz end as until
        from own_event join textrawl.relation r on r.space_id = space and r.id = own_event.relation_id
        -- A withdrawn change can have set the end of a relation that ended later.
        cross join lateral (
            select textrawl.graph_values(space, null, r.id, array(select w.id from withdrawn w)) as value) updated
        where own_event.action = 'ended' and r.valid_until is not null and r.id not in (select removed_relation.id from removed_relation)
          and not exists (
              select from textrawl.event e
              where e.space_id = space and e.relation_id = r.id and e.action = 'ended' and e.id not in (select w.id from withdrawn w))
          and not exists (
              select from textrawl.relation newer
              where newer.space_id = space and newer.valid_until is null
                and newer.id not in (select removed_relation.id from removed_relation)
                and (newer.from_entity, newer.relation_type, newer.to_entity) = (r.from_entity, r.relation_type, r.to_entity))
        order by r.from_entity, r.relation_type, r.to_entity, r.created_at desc, r.id, own_event.id
    ), removed_fact as materialized (
        select fact.id, fact.entity_id from fact where fact.event_id is null
    ), moved as materialized (
        -- Move each fact back to the entity that it had before the withdrawn moves. Ignore the last move that is
        -- not withdrawn, and all moves before it.
        select o.id, o.entity_id, source.id as source
        from (select distinct observation_id from own_event where own_event.action = 'moved') t
        join textrawl.fact o on o.space_id = space and o.id = t.observation_id
        cross join lateral (
            select (array_agg((e.detail ->> 'from')::uuid order by e.id))[1] as id, (array_agg(e.entity_id order by e.id desc))[1] as last
            from textrawl.event e
            where e.space_id = space and e.observation_id = o.id and e.action = 'moved'
              and e.id > coalesce((
                  select max(kept.id) from textrawl.event kept
                  where kept.space_id = space and kept.observation_id = o.id and kept.action = 'moved'
                    and kept.id not in (select w.id from withdrawn w)), 0)) first
        join textrawl.entity source on source.space_id = space and source.id = first.id
        where o.entity_id = first.last and o.entity_id <> source.id and o.id not in (select removed_fact.id from removed_fact)
          and not exists (
              select from textrawl.fact duplicate
              where duplicate.space_id = space and duplicate.entity_id = source.id and duplicate.content_hash = o.content_hash
                and duplicate.content = o.content and (duplicate.whole, duplicate.part) is not distinct from (o.whole, o.part)
                and textrawl.is_valid(duplicate.valid_from, duplicate.valid_until, duplicate.closed_at)
                and textrawl.is_repetition(duplicate.valid_from, duplicate.created_at, o.valid_from, o.created_at)
                and duplicate.id not in (select removed_fact.id from removed_fact))
    ), retyped as materialized (
        select e.id, former_type.value as former_type,
            (select coalesce(jsonb_agg(k.value order by k.item_number), '[]')
             from jsonb_array_elements(e.metadata -> 'retyped') with ordinality k (value, item_number)
             where k.item_number <= last.kept) as history,
            e.metadata
        from (select distinct entity_id from own_event where own_event.action = 'retyped') t
        join textrawl.entity e on e.space_id = space and e.id = t.entity_id
        cross join lateral (
            select coalesce(max(r.item_number) filter (where (r.value ->> 'event')::bigint not in (select w.id from withdrawn w)), 0) as kept
            from jsonb_array_elements(coalesce(e.metadata -> 'retyped', '[]')) with ordinality r (value, item_number)) last
        join lateral jsonb_array_elements(e.metadata -> 'retyped') with ordinality former_type (value, item_number)
            on former_type.item_number = last.kept + 1
    ), ended as materialized (
        -- Take the facts that ended because they were replaced, if the newer fact is removed or the event of the
        -- replacement is withdrawn. Skip facts that are removed.
        select o.id, o.entity_id, o.valid_until, o.closed_at, o.replaced_by, o.content_hash, o.whole, o.part, o.created_at, o.valid_from,
            last.observation_id as successor,
            case when last.action = 'revised' then former.until
                 when updated.values ? 'valid_until' then (updated.values ->> 'valid_until')::timestamptz
                 else coalesce((last.detail ->> 'until')::timestamptz, (
                     -- A merge can have ended the fact, because the other entity had the same fact.
                     select m.valid_until from textrawl.merged m
                     where m.space_id = space and m.id = o.id and m.ended = o.valid_until limit 1), (
                     -- The fact ended at the begin of its successor. Without it, only a given end counts.
                     select (e.detail ->> 'until')::timestamptz from textrawl.event e
                     where e.space_id = space and e.observation_id = o.id and e.detail ->> 'placed_before' = o.replaced_by::text
                     order by e.id desc limit 1)) end as until,
            case when last.action = 'revised' then former.by end as by, last.action = 'revised' as revised
        from (
            select (own_event.detail ->> 'replaced')::uuid as id from own_event where own_event.action in ('replaced', 'revised')
            union
            select o.id from removed_fact join textrawl.fact o on o.space_id = space and o.replaced_by = removed_fact.id) t
        join textrawl.fact o on o.space_id = space and o.id = t.id
        left join lateral (
            select e.* from textrawl.event e
            where e.space_id = space and e.detail ? 'replaced' and e.detail ->> 'replaced' = o.id::text
              and e.action in ('replaced', 'revised')
            order by e.id desc limit 1) last on true
        -- A withdrawn update can have set the end of a fact that was replaced later. So compute the end without
        -- withdrawn updates.
        cross join lateral (select textrawl.fact_values(space, o.id, array(select w.id from withdrawn w)) as values) updated
        left join lateral textrawl.former_end(space, o.id, array(select w.id from withdrawn w)) former on last.action = 'revised'
        where o.id not in (select removed_fact.id from removed_fact)
          and (o.replaced_by in (select removed_fact.id from removed_fact)
               or last.id in (select w.id from withdrawn w)
                  -- If a revision names no successor, its event has the id of the wrong fact.
                  and (o.replaced_by is not distinct from nullif(last.observation_id, o.id)
                       -- This branch is for a newer fact that was forgotten meanwhile.
                       or o.replaced_by is null and o.valid_until is distinct from (last.detail ->> 'until')::timestamptz
                          and not exists (select from textrawl.fact f where f.space_id = space and f.id = last.observation_id))
                  and not exists (
                      select from textrawl.event e
                      where e.space_id = space and e.detail ? 'replaced' and e.detail ->> 'replaced' = o.id::text
                        and e.observation_id = last.observation_id and e.id not in (select w.id from withdrawn w)))
    ), walk as (
        -- Another author may have corrected the removed fact. That correction then also replaces the facts that the
        -- removed fact had replaced.
        select ended.id, coalesce(ended.replaced_by, ended.successor) as target, null::timestamptz as moment,
            array[ended.id] as path
        from ended
        union all
        select walk.id, next.observation_id,
            coalesce((select o.valid_until from textrawl.fact o where o.space_id = space and o.id = walk.target),
                     (select o.valid_from from textrawl.fact o
                      where o.space_id = space and o.id = next.observation_id and (next.detail ->> 'new')::boolean),
                     next.at),
            walk.path || walk.target
        from walk
        cross join lateral (
            select e.* from textrawl.event e
            where e.space_id = space and e.detail ? 'replaced' and e.detail ->> 'replaced' = walk.target::text
              and e.action in ('replaced', 'revised')
            order by e.id desc limit 1) next
        where walk.target <> all(walk.path)
          and (walk.target in (select removed_fact.id from removed_fact)
               or not exists (select from textrawl.fact o where o.space_id = space and o.id = walk.target))
          -- Follow a withdrawn correction only if the fact that it stored is gone too.
          and (next.id not in (select w.id from withdrawn w)
               or next.observation_id in (select removed_fact.id from removed_fact)
               or not exists (select from textrawl.fact o where o.space_id = space and o.id = next.observation_id))
    ), successor as (
        select distinct on (walk.id) walk.id, walk.target, walk.moment
        from walk join textrawl.fact o on o.space_id = space and o.id = walk.target
        where walk.moment is not null and walk.target not in (select removed_fact.id from removed_fact)
        order by walk.id, cardinality(walk.path) desc
    ), revived as (
        select ended.*,
            case when corrected.id is not null then corrected.moment else ended.until end as new_until,
            case when corrected.id is not null then corrected.target else ended.by end as new_successor
        from ended
        left join successor corrected on corrected.id = ended.id and (ended.until is null or ended.until > corrected.moment)
    ), unique_revival as (
        -- If the same text was stored again meanwhile, leave this fact ended and point it to the newer fact. Only one
        -- of the two facts may be valid.
        select r.id, r.entity_id, r.valid_until, r.replaced_by,
            case when newer.id is null then r.new_until else r.valid_until end as new_until,
            coalesce(newer.id, r.new_successor) as new_successor
        from revived r
        left join lateral (
            select o.id from textrawl.fact o
            where o.space_id = space and o.entity_id = r.entity_id and o.content_hash = r.content_hash
              and (o.whole, o.part) is not distinct from (r.whole, r.part)
              and o.created_at > r.created_at
              and textrawl.is_repetition(o.valid_from, o.created_at, r.valid_from, r.created_at) and o.id not in (select removed_fact.id from removed_fact)
            order by o.created_at, o.id limit 1) newer on case when r.revised then textrawl.is_valid(null, r.new_until, r.closed_at)
                          else r.new_until is null or r.new_until > r.valid_until end
    ), changed as (
        select r.* from unique_revival r where (r.valid_until, r.replaced_by) is distinct from (r.new_until, r.new_successor)
    ), restated as (
        select v.id, v.entity_id,
            case when v.id in (select changed.id from changed) then v.former - 'valid_until' else v.former end as former
        from textrawl.plan_values(
            space,
            array(select own_event.observation_id from own_event where own_event.detail ? 'before'
                  except select removed_fact.id from removed_fact),
            array(select earlier.id from earlier), array(select w.id from withdrawn w),
            array(select removed_fact.id from removed_fact)) v
    ), touched as (
        select own_event.entity_id as id from own_event
        union
        select unnest(array[own_event.detail ->> 'to', own_event.detail ->> 'merged'])::uuid from own_event
        union
        -- A split can have given a relation to another entity since.
        select unnest(array[r.from_entity, r.to_entity]) from removed_relation
        join textrawl.relation r on r.space_id = space and r.id = removed_relation.id
    ), dropped as materialized (
        select e.id
    from touched t join textrawl.entity e on e.space_id = space and e.id = t.id
    where exists (
            select from textrawl.event c
            where c.space_id = space and c.entity_id = e.id and c.action = 'created'
              and c.id in (select w.id from withdrawn w))
      and not exists (
            select from textrawl.fact o
            where o.space_id = space and o.entity_id = e.id and o.id not in (select removed_fact.id from removed_fact)
              and o.id not in (select moved.id from moved))
      and not exists (
            select from textrawl.relation r
            where r.space_id = space and r.from_entity = e.id
              and r.id not in (select removed_relation.id from removed_relation))
      and not exists (
            select from textrawl.relation r
            where r.space_id = space and r.to_entity = e.id
              and r.id not in (select removed_relation.id from removed_relation))
      and not exists (select from moved where moved.source = e.id)
      and not exists (select from textrawl.merge m where m.space_id = space and m.kept_id = e.id)
      and not exists (
            select from textrawl.graph_change c
            where c.space_id = space and c.entity_id = e.id and c.event_id not in (select w.id from withdrawn w))
    ), others_reflection as (
        select f.id, coalesce(dropped.id, edge.from_entity) as entity_id
        from textrawl.reflection f
        left join dropped on dropped.id = f.entity_id
        left join edge on edge.id = f.relation_id and edge.event_id is null
        where f.space_id = space and (dropped.id is not null or edge.id is not null)
          and f.id not in (select own_reflection.id from own_reflection)
    )
    select 'remove' as action, 'observation' as kind, removed_fact.id, removed_fact.entity_id, null::bigint as event_id,
        null::timestamptz as valid_until, null::uuid as replaced_by, null::jsonb as former
    from removed_fact
    union all
    select 'hand over', 'observation', fact.id, fact.entity_id, fact.event_id, null, null, null
    from fact where fact.actor_id <> fact.author_id
    union all
    select 'revive', 'observation', r.id, r.entity_id, null, r.new_until, r.new_successor, null
    from changed r
    union all
    select 'revive', 'observation', m.id, m.entity_id, null, m.until, null, null
    from textrawl.plan_memories(space, taken, array(select w.id from withdrawn w)) m
    where m.id not in (select removed_fact.id from removed_fact) and m.id not in (select changed.id from changed)
    union all
    select 'revive', 'observation', m.id, m.entity_id, null, m.until, null, null
    from textrawl.plan_ended(
        space, taken, array(select w.id from withdrawn w), array(select removed_fact.id from removed_fact)) m
    where m.id not in (select changed.id from changed)
    union all
    select 'reset', g.kind, g.id, g.entity_id, null, null, null, g.former
    from textrawl.plan_graph(
        space,
        array(select c.entity_id from textrawl.graph_change c
              where c.space_id = space and c.event_id = any(taken) and c.entity_id is not null),
        array(select c.relation_id from textrawl.graph_change c
              where c.space_id = space and c.event_id = any(taken) and c.relation_id is not null),
        array(select earlier.id from earlier), array(select w.id from withdrawn w),
        array(select removed_relation.id from removed_relation)) g
    where g.id not in (select dropped.id from dropped)
    union all
    select 'reset', 'observation', r.id, r.entity_id, null, null, null, r.former
    from restated r where r.former <> '{}'
    union all
    select 'move back', 'observation', moved.id, moved.entity_id, null, null, null, jsonb_build_object('entity_id', moved.source)
    from moved
    union all
    select 'remove', 'relation', removed_relation.id, removed_relation.from_entity, null, null, null, null from removed_relation
    union all
    select 'hand over', 'relation', edge.id, edge.from_entity, edge.event_id, null, null, null
    from edge where edge.actor_id <> edge.author_id
    union all
    select 'revive', 'relation', r.id, r.from_entity, null, r.until, null, null from reopened r
    union all
    select 'remove', 'dismissal', d.id, own_event.entity_id, null, null, null, null
    from own_event join textrawl.dismissal d on d.space_id = space and d.id::text = own_event.detail ->> 'dismissal'
    where own_event.action = 'dismissed'
    union all
    select 'remove', 'reflection', own_reflection.id, own_reflection.entity_id, null, null, null, null from own_reflection
    union all
    select case when others then 'remove' else 'kept' end, 'reflection', others_reflection.id, others_reflection.entity_id,
        null, null, null, null
    from others_reflection
    union all
    select 'retype', 'entity', r.id, r.id, null, null, null, jsonb_build_object(
        'entity_type', r.former_type -> 'entity_type', 'type_guessed', r.former_type -> 'guessed',
        'metadata', jsonb_strip_nulls(r.metadata - 'type' - 'retyped' || jsonb_build_object(
            'type', r.former_type -> 'type', 'retyped', nullif(r.history, '[]'))))
    from retyped r where r.id not in (select dropped.id from dropped)
    union all
    select 'drop entity', 'entity', d.id, d.id, null, null, null, null
    from dropped d
    where others or not exists (select from others_reflection where others_reflection.entity_id = d.id)
    union all
    select 'lost', case when own_event.observation_id is null then 'entity' else 'observation' end,
        coalesce(own_event.observation_id, own_event.entity_id), own_event.entity_id, own_event.id, null, null, null
    from own_event where own_event.action = 'forgotten'
    union all
    select * from (
        -- A merge ended these relations, because the kept entity had the same relations, which are removed now.
        select distinct on (r.from_entity, r.relation_type, r.to_entity)
            'revive', 'relation', r.id, r.from_entity, null::bigint, m.valid_until, null::uuid, null::jsonb
        from textrawl.merged m
        join textrawl.merge g on g.space_id = space and g.id = m.merge_id
        join textrawl.relation r on r.space_id = space and r.id = m.id and r.valid_until = m.ended
        where m.space_id = space and m.twin in (select removed_relation.id from removed_relation)
          and m.id not in (select removed_relation.id from removed_relation)
          -- Skip a relation between the two merged entities, because the merge ends it even without an equal one.
          and not (r.from_entity = r.to_entity and (m.id = any(g.sources)) <> (m.id = any(g.targets)))
        order by r.from_entity, r.relation_type, r.to_entity, r.created_at, r.id) twin
    union all
    select * from textrawl.plan_names(space, taken, array(select w.id from withdrawn w))
    union all
    select * from textrawl.plan_documents(space, taken, array(select w.id from withdrawn w))
    union all
    select * from textrawl.plan_review(space, taken, array(select w.id from withdrawn w));
end;

comment on function textrawl.plan_space_undo is
    'Plan the undo of some events of one author in a space, row by row. A relation or entity with a reflection of '
    'another author is removed only if the parameter others is true.';
