create function textrawl.restore_graph(space integer, undo bigint) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    -- If a node or an edge was written again meanwhile, keep the newer values.
    insert into graph_node
    select n.*
    from (select distinct on (e.id) e.id, kept.value
          from undone d, jsonb_array_elements(d.entities) kept
          join entity e on e.space_id = restore_graph.space and e.name_key = entity_key(restore_graph.space, kept.value ->> 'name_key')
          where d.space_id = restore_graph.space and d.undo_id = restore_graph.undo and kept.value -> 'node' <> 'null'
          order by e.id) restored
    left join fact f on f.space_id = restore_graph.space and f.id = (restored.value -> 'node' ->> 'description_id')::uuid
    cross join lateral jsonb_populate_record(null::graph_node, restored.value -> 'node' || jsonb_build_object(
        'entity_id', restored.id, 'description_id', f.id)) n
    on conflict do nothing;
    insert into graph_edge
    select n.*
    from undone d
    join relation r on r.space_id = d.space_id and r.id = d.id
    cross join lateral jsonb_populate_record(null::graph_edge, d.before -> 'edge') n
    where d.space_id = restore_graph.space and d.undo_id = restore_graph.undo and d.action = 'remove' and d.kind = 'relation'
      and d.before -> 'edge' <> 'null'
    on conflict do nothing;
    insert into graph_change (space_id, event_id, entity_id, relation_id, before, after)
    select restore_graph.space, change.event_id, e.id, r.id, change.before, change.after
    from (select jsonb_array_elements(kept.value -> 'changes') as value
          from undone d, jsonb_array_elements(d.entities) kept
          where d.space_id = restore_graph.space and d.undo_id = restore_graph.undo and kept.value ? 'changes'
          union
          select jsonb_array_elements(d.before -> 'changes')
          from undone d
          where d.space_id = restore_graph.space and d.undo_id = restore_graph.undo and d.kind = 'relation'
            and d.before ? 'changes') kept
    cross join lateral jsonb_populate_record(null::graph_change, kept.value) change
    left join entity e on e.space_id = restore_graph.space and e.id = change.entity_id
    left join relation r on r.space_id = restore_graph.space and r.id = change.relation_id
    where num_nonnulls(e.id, r.id) = 1
    on conflict do nothing;
end
$$;

comment on function textrawl.restore_graph is
    'Restore the values of the nodes and edges that an undo removed.';
