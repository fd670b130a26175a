create function textrawl.find_later_event(space integer, taken bigint[]) returns bigint
language sql stable
begin atomic
    with own as materialized (
        select e.* from textrawl.event e where e.space_id = space and e.id = any(taken)
    ), stated as (
        select o.observation_id as id from own o where o.observation_id is not null
        union select o.relation_id from own o where o.relation_id is not null
    ), joined as (
        -- Entities that the call created and then merged another entity into: a rename does this.
        select m.entity_id as id from own m
        where m.action = 'merged' and exists (select from own c where c.action = 'created' and c.entity_id = m.entity_id)
    ), later as (
        -- Later changes of these facts and relations, such as corrections, ends, moves and deletions.
        select e.id from stated join textrawl.event e on e.space_id = space and e.detail ? 'replaced'
            and e.detail ->> 'replaced' = stated.id::text
        union all
        select e.id from stated join textrawl.event e on e.space_id = space and e.observation_id = stated.id
            and e.action in ('updated', 'moved', 'shared', 'forgotten')
        union all
        select e.id from stated join textrawl.event e on e.space_id = space and e.relation_id = stated.id
            and e.action in ('ended', 'described', 'shared', 'forgotten')
        union all
        -- Later decisions on the same proposal, changes of the same alias or merge, and versions of the same document.
        select e.id from own join textrawl.event e on e.space_id = space and e.detail ? 'proposal'
            and e.detail ->> 'proposal' = own.detail ->> 'proposal'
        union all
        select e.id from own join textrawl.event e on e.space_id = space and e.detail ? 'alias' and e.detail ->> 'alias' = own.detail ->> 'alias'
        union all
        select e.id from own join textrawl.event e on e.space_id = space and e.detail ? 'merge' and e.detail ->> 'merge' = own.detail ->> 'merge'
        union all
        select e.id from own join textrawl.event e on e.space_id = space and e.detail ? 'document'
            and e.detail ->> 'document' = own.detail ->> 'document'
        union all
        select e.id from joined join textrawl.event e on e.space_id = space and e.entity_id = joined.id
    )
    select max(later.id)
    from later
    where later.id > (select max(id) from own) and later.id <> all(taken)
      and (select textrawl.can_undo(e.action) from textrawl.event e where e.space_id = space and e.id = later.id)
      and later.id not in (select unnest(u.events) from textrawl.undo u where u.space_id = space and u.reverted_at is null);
end;

comment on function textrawl.find_later_event is
    'The last event that builds on some events of a call: it corrected their fact, ended their relation, or changed the '
    'same alias, merge, document or proposal. Null if there is none.';
