create function textrawl.is_as_left(step textrawl.undone) returns boolean
language sql stable
begin atomic
    -- Convert all values in the same way, because JSON shows an instant in the time zone of the session.
    select case step.kind
        when 'observation' then exists (
            select from textrawl.observation o cross join lateral textrawl.restored_values(step, step.after) v (former)
            cross join lateral jsonb_populate_record(o, textrawl.restored_values(step, step.before)) n
            where o.space_id = step.space_id and o.id = step.id and to_jsonb(jsonb_populate_record(o, v.former)) = to_jsonb(o)
              and (textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at) and n.entity_id = o.entity_id
                   or textrawl.equal_fact(n, '{}') is null))
        when 'relation' then exists (
            select from textrawl.relation r where r.space_id = step.space_id and r.id = step.id
              and (textrawl.edge_values(r.space_id, r.id) || to_jsonb(r)) @> (
                  select jsonb_object_agg(k, (to_jsonb(jsonb_populate_record(null::textrawl.graph_edge, step.after))
                                              || to_jsonb(jsonb_populate_record(null::textrawl.relation, step.after))) -> k)
                  from jsonb_object_keys(step.after - 'replaced_by') k))
        else exists (
            select from textrawl.entity e
            left join textrawl.graph_node g on g.space_id = e.space_id and g.entity_id = e.id
            where e.space_id = step.space_id and e.id = step.id
              and to_jsonb(e) || to_jsonb(coalesce(g, jsonb_populate_record(null::textrawl.graph_node, '{}'))) @> (
                  select jsonb_object_agg(k, (to_jsonb(jsonb_populate_record(null::textrawl.graph_node, step.after))
                                              || to_jsonb(jsonb_populate_record(null::textrawl.entity, step.after))) -> k)
                  from jsonb_object_keys(step.after) k)) end;
end;

comment on function textrawl.is_as_left is
    'True if a fact, a relation or an entity has the values that an undo gave it. Otherwise somebody has changed it since.';
