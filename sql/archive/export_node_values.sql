create function textrawl.export_node_values(space integer)
returns table (
    kind text, space text, id uuid, label text,
    described_by uuid,  -- the fact that describes the node
    confidence real, properties jsonb, instance text, memory text,
    first_learned_at timestamptz, last_confirmed_at timestamptz, version integer, deleted_at timestamptz
)
language sql stable
begin atomic
    select 'node'::text, s.name, n.entity_id, n.label, n.description_id, n.confidence, n.properties, n.instance, n.memory,
        n.first_learned_at, n.last_confirmed_at, n.version, n.deleted_at
    from textrawl.graph_node n
    join textrawl.space s on s.id = n.space_id
    where n.space_id = export_node_values.space
    order by n.space_id, n.entity_id;
end;

comment on function textrawl.export_node_values is
    'The values of the nodes of a space that their entities do not have, as lines of an export. '
    'Example: select row_to_json(n) from textrawl.export_node_values(1) n;';
