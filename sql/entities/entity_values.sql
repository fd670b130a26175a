create function textrawl.entity_values(space integer, entity uuid) returns jsonb
language sql stable
begin atomic
    select jsonb_build_object(
        'type', jsonb_build_array(e.entity_type, e.type_guessed, e.metadata), 'description', e.description,
        'node', (select to_jsonb(n) from textrawl.graph_node n where n.space_id = e.space_id and n.entity_id = e.id))
    from textrawl.entity e where e.space_id = space and e.id = entity_values.entity;
end;

comment on function textrawl.entity_values is
    'The values of an entity that a merge can change: type, description and the values of the node.';
