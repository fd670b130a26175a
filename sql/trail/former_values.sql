create function textrawl.former_values(
    space integer, events bigint[],
    gone uuid[],                -- relations that are removed at the same time
    back boolean default false  -- true: the values after the newest of the events
) returns table (
    kind text,  -- entity or relation
    id uuid, entity_id uuid,
    former jsonb
)
language sql stable
begin atomic
    select case when v.relation_id is null then 'entity' else 'relation' end, coalesce(v.relation_id, v.entity_id),
        coalesce(v.entity_id, r.from_entity), jsonb_object_agg(v.key, v.value)
    from (
        select distinct on (c.entity_id, c.relation_id, k.key) c.entity_id, c.relation_id, k.key, k.value
        from textrawl.graph_change c
        cross join lateral jsonb_each(case when former_values.back then c.after else c.before end) k
        where c.space_id = space and c.event_id = any(events)
        order by c.entity_id, c.relation_id, k.key, case when former_values.back then -c.event_id else c.event_id end) v
    left join textrawl.relation r on r.space_id = space and r.id = v.relation_id
    where v.relation_id is null or r.id <> all(gone) and (
        -- If an equal relation is valid, this relation stays ended.
        v.key <> 'valid_until' or v.value <> 'null' or not exists (
            select from textrawl.relation equal
            where equal.space_id = space and equal.valid_until is null and equal.id <> r.id and equal.id <> all(gone)
              and (equal.from_entity, equal.relation_type, equal.to_entity) = (r.from_entity, r.relation_type, r.to_entity)))
    group by v.entity_id, v.relation_id, r.from_entity;
end;

comment on function textrawl.former_values is
    'The values of nodes and edges before the oldest of some events, by column of graph_node and graph_edge.';
