create function textrawl.claim_events(space integer, taken bigint[]) returns uuid[]
language sql volatile
begin atomic
    with own_event as materialized (
        select e.entity_id, e.observation_id, e.relation_id, e.detail from textrawl.event e
        where e.space_id = space and e.id = any(taken)
    ), concerned as (
        select entity_id as id from own_event
        union
        select unnest(array[(detail ->> 'to')::uuid, (detail ->> 'from')::uuid]) from own_event
        union
        select unnest(array[r.from_entity, r.to_entity])
        from own_event join textrawl.relation r on r.space_id = space and r.id = own_event.relation_id
        union
        select d.entity_id from own_event join textrawl.document d on d.space_id = space and d.id = (own_event.detail ->> 'document')::uuid
        union
        -- Add the entities to which the facts belong now, because facts can have been moved after these events.
        select o.entity_id
        from own_event, unnest(array[own_event.observation_id, (own_event.detail ->> 'replaced')::uuid]) fact
        join textrawl.observation o on o.space_id = space and o.id = fact
    ), locked as (
        -- Lock the entities in the order of their names, like every writer.
        select e.id from textrawl.entity e
        where e.space_id = space and e.id in (select id from concerned)
        order by e.name_key for update
    )
    select coalesce(array_agg(id), '{}') from locked;
end;

comment on function textrawl.claim_events is
    'Lock the entities that some events of a space are about, until the transaction ends, and return their ids.';
