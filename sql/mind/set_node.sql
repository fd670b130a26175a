create function textrawl.set_node(fields jsonb) returns void
language sql volatile
begin atomic
    insert into textrawl.graph_node select * from jsonb_populate_record(null::textrawl.graph_node, fields)
    on conflict (space_id, entity_id) do update set
        label = excluded.label, label_key = excluded.label_key, description_id = excluded.description_id,
        confidence = excluded.confidence, properties = excluded.properties, instance = excluded.instance,
        memory = excluded.memory, first_learned_at = excluded.first_learned_at,
        last_confirmed_at = excluded.last_confirmed_at, version = excluded.version, deleted_at = excluded.deleted_at;
end;

comment on function textrawl.set_node is
    'Store all values of a node, by column of the table graph_node.';
