create function textrawl.plan_space_undo(space integer, taken bigint[])
returns table (action text, kind text, id uuid, entity_id uuid, event_id bigint, valid_until timestamptz, replaced_by uuid)
language sql stable
set search_path from current
begin atomic
    with recursive withdrawn as materialized (
        select unnest(taken) as id
        union
        select unnest(u.events) from textrawl.undo u where u.space_id = space and u.reverted_at is null
    ), told as materialized (
        select e.* from textrawl.event e where e.space_id = space and e.id = any(taken)
    ), fact as materialized (
        -- Who still says it, and first; its author before all others.
        select o.id, o.entity_id, o.author_id, still.id as event_id, still.actor_id
        from (select distinct observation_id from told where told.action in ('remembered', 'repeated', 'replaced')) t
        join textrawl.observation o on o.space_id = space and o.id = t.observation_id
        left join lateral (
            select e.id, e.actor_id from textrawl.event e
            where e.space_id = space and e.observation_id = o.id and e.action in ('remembered', 'repeated', 'replaced')
              and e.id not in (select w.id from withdrawn w)
            order by e.actor_id <> o.author_id, e.id limit 1) still on true
        -- A row that came without a line in the trail is its author's own word.
        where exists (
            select from textrawl.event e
            where e.space_id = space and e.observation_id = o.id
              and (e.action = 'remembered' or e.action = 'replaced' and coalesce((e.detail ->> 'new')::boolean, true)))
    ), edge as materialized (
        select r.id, r.from_entity, r.to_entity, r.author_id, still.id as event_id, still.actor_id
        from (select distinct relation_id from told where told.action in ('related', 'repeated')) t
        join textrawl.relation r on r.space_id = space and r.id = t.relation_id
        left join lateral (
            select e.id, e.actor_id from textrawl.event e
            where e.space_id = space and e.relation_id = r.id and e.action in ('related', 'repeated')
              and e.id not in (select w.id from withdrawn w)
            order by e.actor_id <> r.author_id, e.id limit 1) still on true
        where exists (
            select from textrawl.event e where e.space_id = space and e.relation_id = r.id and e.action = 'related')
    ), removed as materialized (
        select fact.id, fact.entity_id from fact where fact.event_id is null
    ), ended as materialized (
        -- Facts that stay and were ended by what goes, or in favour of it.
        select o.id, o.entity_id, o.valid_until, o.replaced_by, o.content_hash, o.created_at, last.observation_id as successor,
            (last.detail ->> 'until')::timestamptz as until
        from (
            select (told.detail ->> 'replaced')::uuid as id from told where told.action = 'replaced'
            union
            select o.id from removed join textrawl.observation o on o.space_id = space and o.replaced_by = removed.id) t
        join textrawl.observation o on o.space_id = space and o.id = t.id
        left join lateral (
            select e.* from textrawl.event e
            where e.space_id = space and e.detail ? 'replaced' and e.detail ->> 'replaced' = o.id::text and e.action = 'replaced'
            order by e.id desc limit 1) last on true
        where o.id not in (select removed.id from removed)
          and (o.replaced_by in (select removed.id from removed)
               or last.id in (select w.id from withdrawn w)
                  and (o.replaced_by = last.observation_id
                       -- Its successor was forgotten since.
                       or o.replaced_by is null and o.valid_until is distinct from (last.detail ->> 'until')::timestamptz
                          and not exists (select from textrawl.observation f where f.space_id = space and f.id = last.observation_id))
                  and not exists (
                      select from textrawl.event e
                      where e.space_id = space and e.detail ? 'replaced' and e.detail ->> 'replaced' = o.id::text
                        and e.observation_id = last.observation_id and e.id not in (select w.id from withdrawn w)))
    ), walk as (
        -- What went may have been corrected by somebody else, whose correction then holds for what it had replaced.
        select ended.id, coalesce(ended.replaced_by, ended.successor) as target, null::timestamptz as moment,
            array[ended.id] as path
        from ended
        union all
        select walk.id, next.observation_id,
            coalesce((select o.valid_until from textrawl.observation o where o.space_id = space and o.id = walk.target),
                     (select o.created_at from textrawl.observation o
                      where o.space_id = space and o.id = next.observation_id and (next.detail ->> 'new')::boolean),
                     next.at),
            walk.path || walk.target
        from walk
        cross join lateral (
            select e.* from textrawl.event e
            where e.space_id = space and e.detail ? 'replaced' and e.detail ->> 'replaced' = walk.target::text and e.action = 'replaced'
            order by e.id desc limit 1) next
        where walk.target <> all(walk.path)
          and (walk.target in (select removed.id from removed)
               or not exists (select from textrawl.observation o where o.space_id = space and o.id = walk.target))
          -- A correction that is taken back itself leads on only to where it is gone as well.
          and (next.id not in (select w.id from withdrawn w)
               or next.observation_id in (select removed.id from removed)
               or not exists (select from textrawl.observation o where o.space_id = space and o.id = next.observation_id))
    ), successor as (
        select distinct on (walk.id) walk.id, walk.target, walk.moment
        from walk join textrawl.observation o on o.space_id = space and o.id = walk.target
        where walk.moment is not null and walk.target not in (select removed.id from removed)
        order by walk.id, cardinality(walk.path) desc
    ), revived as (
        select ended.*,
            case when corrected.id is not null then corrected.moment else ended.until end as new_until,
            corrected.target as new_successor
        from ended
        left join successor corrected on corrected.id = ended.id and (ended.until is null or ended.until > corrected.moment)
    ), single as (
        -- Said anew while it was not valid, it is told by that from then on: a fact stays one.
        select r.id, r.entity_id, r.valid_until, r.replaced_by,
            case when anew.id is null then r.new_until else r.valid_until end as new_until,
            coalesce(anew.id, r.new_successor) as new_successor
        from revived r
        left join lateral (
            select o.id from textrawl.observation o
            where o.space_id = space and o.entity_id = r.entity_id and o.content_hash = r.content_hash
              and o.created_at > r.created_at and o.id not in (select removed.id from removed)
            order by o.created_at, o.id limit 1) anew on r.new_until is null or r.new_until > r.valid_until
    ), touched as (
        select told.entity_id as id from told
        union
        select (told.detail ->> 'to')::uuid from told
    )
    select 'remove', 'observation', removed.id, removed.entity_id, null::bigint, null::timestamptz, null::uuid from removed
    union all
    select 'hand over', 'observation', fact.id, fact.entity_id, fact.event_id, null, null
    from fact where fact.actor_id <> fact.author_id
    union all
    select 'revive', 'observation', r.id, r.entity_id, null, r.new_until, r.new_successor
    from single r
    where (r.valid_until, r.replaced_by) is distinct from (r.new_until, r.new_successor)
    union all
    select 'remove', 'relation', edge.id, edge.from_entity, null, null, null from edge where edge.event_id is null
    union all
    select 'hand over', 'relation', edge.id, edge.from_entity, edge.event_id, null, null
    from edge where edge.actor_id <> edge.author_id
    union all
    select 'drop entity', 'entity', t.id, t.id, null, null, null
    from touched t join textrawl.entity e on e.space_id = space and e.id = t.id
    where exists (
            select from textrawl.event c
            where c.space_id = space and c.entity_id = e.id and c.action = 'created' and c.id in (select w.id from withdrawn w))
      and not exists (
            select from textrawl.observation o
            where o.space_id = space and o.entity_id = e.id and o.id not in (select removed.id from removed))
      and not exists (
            select from textrawl.relation r
            where r.space_id = space and r.from_entity = e.id
              and r.id not in (select edge.id from edge where edge.event_id is null))
      and not exists (
            select from textrawl.relation r
            where r.space_id = space and r.to_entity = e.id
              and r.id not in (select edge.id from edge where edge.event_id is null))
    union all
    select 'lost', case when told.observation_id is null then 'entity' else 'observation' end,
        coalesce(told.observation_id, told.entity_id), told.entity_id, told.id, null, null
    from told where told.action = 'forgotten';
end;

comment on function textrawl.plan_space_undo is
    'What has to happen in a space when events of one author do not count any more. Facts and relations go unless another event says them, which event_id then names; facts that they ended come back with valid_until and replaced_by; entities they made go with the last that was said about them; what was forgotten is lost.';
