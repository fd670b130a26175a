create function textrawl.find_touched(space integer, undo bigint) returns bigint
language sql stable
begin atomic
    with own as materialized (
        select u.events, (
            select max(e.id) from textrawl.event e
            where e.space_id = u.space_id and e.actor_id = u.actor_id and e.at = u.at and e.detail ->> 'undo' = u.id::text) as last
        from textrawl.undo u where u.space_id = space and u.id = find_touched.undo
    ), step as materialized (
        select d.* from textrawl.undone d where d.space_id = space and d.undo_id = find_touched.undo
    ), taken_name as (
        select d.before ->> 'name_key' as key from step d where d.action = 'drop entity'
        union
        select a.name_key from step d join textrawl.entity_alias a on a.space_id = space and a.id = d.id
        where d.kind = 'alias' and d.action = 'remove'
    ), touched as (
        select k.later_id as id from own cross join lateral textrawl.find_kept(space, own.events) k where k.later_id <> all(own.events)
        union all
        -- The same fact or relation is valid, which was not so before.
        select v.id from step d
        left join textrawl.observation o on o.space_id = space and o.id = d.id
        cross join lateral jsonb_populate_record(o, d.before) n
        join textrawl.event v on v.space_id = space and v.observation_id = textrawl.equal_fact(n, array(select s.id from step s)) and v.id > (select last from own)
        where d.kind = 'observation'
        union all
        select v.id from step d
        left join textrawl.relation r on r.space_id = space and r.id = d.id
        cross join lateral jsonb_populate_record(r, d.before) n
        join textrawl.relation equal on equal.space_id = space and equal.valid_until is null and equal.id not in (select s.id from step s)
            and (equal.from_entity, equal.relation_type, equal.to_entity) = (n.from_entity, n.relation_type, n.to_entity)
        join textrawl.event v on v.space_id = space and v.relation_id = equal.id and v.id > (select last from own)
        where d.kind = 'relation' and n.valid_until is null
        union all
        select v.id from step d
        join textrawl.merge m on m.space_id = space
            and m.merged_id::text in (d.before ->> 'entity_id', d.before ->> 'from_entity', d.before ->> 'to_entity')
        join textrawl.event v on v.space_id = space and v.detail ? 'merge' and v.detail ->> 'merge' = m.id::text
        union all
        select v.id from taken_name t
        join textrawl.entity e on e.space_id = space and e.name_key = t.key
        join textrawl.event v on v.space_id = space and v.entity_id = e.id and v.id > (select last from own)
        where e.id not in (select d.id from step d)
        union all
        select v.id from taken_name t
        join textrawl.entity_alias a on a.space_id = space and a.name_key = t.key and a.removed_at is null
        join textrawl.event v on v.space_id = space and v.entity_id = a.entity_id and v.id > (select last from own)
            and a.id::text in (v.detail ->> 'alias', v.detail ->> 'merged')
    )
    select max(touched.id) from touched;
end;

comment on function textrawl.find_touched is
    'The last event since an undo that touched what it changed, so that it cannot be reverted. Null if there is none.';
