create function textrawl.plan_graph(
    space integer, nodes uuid[], edges uuid[],
    before bigint[],  -- events that are withdrawn before the change
    after bigint[],   -- events that are withdrawn after the change
    gone uuid[]       -- relations that are removed at the same time
) returns table (
    kind text,        -- entity or relation
    id uuid, entity_id uuid,
    former jsonb      -- the values to set, by column
)
language sql stable
begin atomic
    -- Convert all values in the same way, because JSON shows an instant in the time zone of the session.
    with node_value as materialized (
        select e.id, coalesce(to_jsonb(n), to_jsonb(empty)) as present,
            to_jsonb(jsonb_populate_record(null::textrawl.graph_node, was.value)) as now,
            to_jsonb(jsonb_populate_record(null::textrawl.graph_node, will.value)) as next, will.value as changed
        from textrawl.entity e
        left join textrawl.graph_node n on n.space_id = e.space_id and n.entity_id = e.id
        cross join jsonb_populate_record(null::textrawl.graph_node, '{}') empty
        cross join lateral (select textrawl.graph_values(e.space_id, e.id, null, before) as value) was
        cross join lateral (select textrawl.graph_values(e.space_id, e.id, null, after) as value) will
        where e.space_id = space and e.id = any(nodes)
    ), edge_value as materialized (
        select r.id, r.from_entity, textrawl.edge_values(r.space_id, r.id) as present,
            to_jsonb(jsonb_populate_record(null::textrawl.graph_edge, was.value))
                || to_jsonb(jsonb_populate_record(null::textrawl.relation, was.value)) as now,
            to_jsonb(jsonb_populate_record(null::textrawl.graph_edge, will.value))
                || to_jsonb(jsonb_populate_record(null::textrawl.relation, will.value)) as next,
            -- If an equal relation is valid, this relation stays ended.
            will.value - case when exists (
                select from textrawl.relation other
                where other.space_id = r.space_id and other.id <> r.id and other.id <> all(gone) and other.valid_until is null
                  and (other.from_entity, other.relation_type, other.to_entity) = (r.from_entity, r.relation_type, r.to_entity))
                then 'valid_until' else '' end as changed
        from textrawl.relation r
        cross join lateral (select textrawl.graph_values(r.space_id, null, r.id, before) as value) was
        cross join lateral (select textrawl.graph_values(r.space_id, null, r.id, after) as value) will
        where r.space_id = space and r.id = any(edges) and r.id <> all(gone)
    ), planned as (
        -- Change a value only if nothing else has changed it since.
        select 'entity' as kind, v.id, v.id as entity_id,
            (select jsonb_object_agg(k, v.next -> k) from jsonb_object_keys(v.changed) k
             where v.next -> k <> v.present -> k and v.now -> k = v.present -> k) as former
        from node_value v
        union all
        select 'relation', v.id, v.from_entity,
            (select jsonb_object_agg(k, v.next -> k) from jsonb_object_keys(v.changed) k
             where v.next -> k <> v.present -> k and v.now -> k = v.present -> k)
        from edge_value v
    )
    select p.kind, p.id, p.entity_id, p.former from planned p where p.former is not null;
end;

comment on function textrawl.plan_graph is
    'The values that nodes and edges must get if the withdrawn events change from "before" to "after". '
    'plan_space_undo() says which events are withdrawn.';
