create function textrawl.entity_description(space integer, entity uuid, given text) returns text
language sql stable parallel safe
begin atomic
    select coalesce((
        select (textrawl.node_description(n.space_id, n.entity_id, n.description_id)).content
        from textrawl.graph_node n
        where n.space_id = space and n.entity_id = entity_description.entity and n.description_id is not null), given);
end;

comment on function textrawl.entity_description is
    'The description of an entity: the fact that describes it now, or else the text that came with an import.';
