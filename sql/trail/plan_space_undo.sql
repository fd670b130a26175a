create function textrawl.plan_space_undo(space integer, taken bigint[])
returns table (
    -- The actions are described in plan_undo().
    action text,              -- remove, revive, reset, move back, retype, drop entity, lost or kept
    kind text,                -- observation, relation, reflection, entity, document, proposal, alias or dismissal
    id uuid, entity_id uuid,
    event_id bigint,          -- lost: the event
    former jsonb,             -- the former values, by column
    later_id integer, later_at timestamptz  -- kept: author and time of what keeps the row
)
language sql stable
begin atomic
    with withdrawn as materialized (
        -- While an undo runs, its own row is there already.
        select unnest(taken) as id
        union
        select unnest(u.events) from textrawl.undo u where u.space_id = space and u.reverted_at is null
    ), own_event as materialized (
        select e.* from textrawl.event e where e.space_id = space and e.id = any(taken)
    ), removed_fact as materialized (
        select distinct o.id, o.entity_id
        from own_event join textrawl.fact o on o.space_id = space and o.id = own_event.observation_id
        where own_event.action in ('remembered', 'shared')
            or own_event.action = 'replaced' and coalesce((own_event.detail ->> 'new')::boolean, true)
    ), removed_relation as materialized (
        select distinct r.id, r.from_entity, r.to_entity
        from own_event join textrawl.relation r on r.space_id = space and r.id = own_event.relation_id
        where own_event.action in ('related', 'shared')
    ), removed_reflection as materialized (
        select f.id, coalesce(f.entity_id, r.from_entity) as entity_id
        from own_event join textrawl.reflection f on f.space_id = space and f.id = (own_event.detail ->> 'reflection')::uuid
        left join textrawl.relation r on r.space_id = space and r.id = f.relation_id
        where own_event.action = 'reflected'
    ), restated as materialized (
        select f.* from textrawl.former_facts(space, taken, array(select removed_fact.id from removed_fact)) f
    ), rewritten as materialized (
        select g.* from textrawl.former_values(space, taken, array(select removed_relation.id from removed_relation)) g
    ), reopened as materialized (
        -- Take the newest of several equal relations, and none if the same relation is valid.
        select distinct on (r.from_entity, r.relation_type, r.to_entity) r.id, r.from_entity, ended.until, equal.author_id, equal.created_at
        from (select distinct on (own_event.relation_id) own_event.relation_id as id, (own_event.detail ->> 'until')::timestamptz as until
              from own_event where own_event.action = 'ended' and own_event.relation_id is not null
              order by own_event.relation_id, own_event.id) ended
        join textrawl.relation r on r.space_id = space and r.id = ended.id and r.valid_until is not null
        left join textrawl.relation equal on equal.space_id = space and equal.valid_until is null
            and equal.id not in (select removed_relation.id from removed_relation)
            and (equal.from_entity, equal.relation_type, equal.to_entity) = (r.from_entity, r.relation_type, r.to_entity)
        where r.id not in (select removed_relation.id from removed_relation)
        order by r.from_entity, r.relation_type, r.to_entity, r.created_at desc, r.id
    ), touched as (
        select own_event.entity_id as id from own_event
        union
        select unnest(array[own_event.detail ->> 'to', own_event.detail ->> 'from'])::uuid from own_event
        union
        -- A split can have given a relation to another entity since.
        select unnest(array[removed_relation.from_entity, removed_relation.to_entity]) from removed_relation
    ), created as materialized (
        select e.id, used.author_id, used.at
        from touched t join textrawl.entity e on e.space_id = space and e.id = t.id
        left join lateral (
            -- The newest use of the entity that stays, if possible by somebody else.
            select u.* from (
            select o.author_id, o.created_at as at from textrawl.fact o
            where o.space_id = space and o.entity_id = e.id and o.id not in (select removed_fact.id from removed_fact)
              and not exists (select from restated m where m.id = o.id and m.former ? 'entity_id')
            union all
            select r.author_id, r.created_at from textrawl.relation r
            where r.space_id = space and r.from_entity = e.id and r.id not in (select removed_relation.id from removed_relation)
            union all
            select r.author_id, r.created_at from textrawl.relation r
            where r.space_id = space and r.to_entity = e.id and r.id not in (select removed_relation.id from removed_relation)
            union all
            select f.author_id, f.created_at from textrawl.reflection f
            where f.space_id = space and f.entity_id = e.id and f.id not in (select removed_reflection.id from removed_reflection)
            union all
            select v.actor_id, v.at from textrawl.event v
            where v.space_id = space and v.entity_id = e.id and v.relation_id is null
              and v.action in ('described', 'retyped')
              and v.id not in (select w.id from withdrawn w)
            union all
            select c.author_id, c.created_at from restated m join textrawl.fact c on c.space_id = space and c.id = m.id
            where (m.former ->> 'entity_id')::uuid = e.id
            union all
            select a.author_id, a.created_at from textrawl.entity_alias a
            where a.space_id = space and a.entity_id = e.id and a.removed_at is null
              and a.id::text not in (select own_event.detail ->> 'alias' from own_event where own_event.action = 'named' and own_event.detail ? 'alias')
            union all
            select m.actor_id, m.at from textrawl.merge m where m.space_id = space and m.kept_id = e.id
            ) u
            order by u.author_id in (select own_event.actor_id from own_event), u.at desc limit 1) used on true
        where exists (
            select from textrawl.event c
            where c.space_id = space and c.entity_id = e.id and c.action = 'created' and c.id in (select w.id from withdrawn w))
    )
    select 'remove' as action, 'observation' as kind, f.id, f.entity_id, null::bigint as event_id, null::jsonb as former,
        null::integer as later_id, null::timestamptz as later_at
    from removed_fact f
    union all
    select 'remove', 'relation', r.id, r.from_entity, null, null, null, null from removed_relation r
    union all
    select 'remove', 'reflection', f.id, f.entity_id, null, null, null, null from removed_reflection f
    union all
    select 'remove', 'dismissal', d.id, own_event.entity_id, null, null, null, null
    from own_event join textrawl.dismissal d on d.space_id = space and d.id::text = own_event.detail ->> 'dismissal'
    where own_event.action = 'dismissed'
    union all
    select f.action, 'observation', f.id, f.entity_id, null, f.former, null, null from restated f where f.former is not null
    union all
    select 'kept', 'observation', f.id, f.entity_id, null, null, o.author_id, o.created_at
    from restated f left join textrawl.fact o on o.space_id = space and o.id = f.equal
    where f.former is null or f.equal is not null
    union all
    select case when r.created_at is null then 'revive' else 'kept' end, 'relation', r.id, r.from_entity, null,
        case when r.created_at is null then jsonb_build_object('valid_until', coalesce(g.former -> 'valid_until', to_jsonb(r.until))) end,
        r.author_id, r.created_at
    from reopened r left join rewritten g on g.id = r.id
    union all
    select 'reset', g.kind, g.id, g.entity_id, null, g.former, null, null
    from rewritten g
    where g.id not in (select created.id from created where created.at is null)
    union all
    select 'retype', 'entity', e.id, e.id, null, jsonb_build_object(
        'entity_type', former.value -> 'entity_type', 'type_guessed', former.value -> 'guessed',
        'repositories', (
            select jsonb_object_agg(l.key, l.value)
            from jsonb_array_elements(e.metadata -> 'retyped') with ordinality k (value, place), jsonb_each(k.value -> 'repositories') l
            where k.place >= former.place),
        'metadata', e.metadata - 'type' - 'retyped' || jsonb_strip_nulls(jsonb_build_object('type', former.value -> 'type')) || (
            select case when count(*) = 0 then '{}' else jsonb_build_object('retyped', jsonb_agg(k.value order by k.place)) end
            from jsonb_array_elements(e.metadata -> 'retyped') with ordinality k (value, place) where k.place < former.place)), null, null
    from (select own_event.entity_id, min(own_event.id) as event from own_event where own_event.action = 'retyped' group by 1) t
    join textrawl.entity e on e.space_id = space and e.id = t.entity_id
    cross join lateral jsonb_array_elements(e.metadata -> 'retyped') with ordinality former (value, place)
    where former.value ->> 'event' = t.event::text and e.id not in (select created.id from created where created.at is null)
    union all
    select case when created.at is null then 'drop entity' else 'kept' end, 'entity', created.id, created.id, null, null,
        created.author_id, created.at
    from created where created.at is null or exists (
        select from own_event where own_event.action = 'created' and own_event.entity_id = created.id)
    union all
    select 'lost', case when own_event.observation_id is null then 'entity' else 'observation' end,
        coalesce(own_event.observation_id, own_event.entity_id), own_event.entity_id, own_event.id, null, null, null
    from own_event where own_event.action = 'forgotten'
    union all
    -- The oldest event says whether an alias was in use before.
    select case v.action when 'named' then 'remove' else 'revive' end, 'alias', a.id, a.entity_id, null, '{}', null, null
    from (select distinct on (own_event.detail ->> 'alias') own_event.action, own_event.detail
          from own_event where own_event.action in ('named', 'unnamed') and own_event.detail ? 'alias'
          order by own_event.detail ->> 'alias', own_event.id) v
    join textrawl.entity_alias a on a.space_id = space and a.id = (v.detail ->> 'alias')::uuid
    where (v.action = 'named') = (a.removed_at is null)
    union all
    select d.action, 'document', d.id, d.entity_id, d.event_id, d.former, null, null
    from textrawl.plan_documents(space, taken, array(select w.id from withdrawn w)) d
    union all
    select 'reset', 'proposal', p.id, null, null, p.former, null, null
    from textrawl.plan_review(space, taken, array(select w.id from withdrawn w)) p;
end;

comment on function textrawl.plan_space_undo is
    'Plan the undo of some events of a space, row by row. find_kept() names the events that stay, and they are not given.';
