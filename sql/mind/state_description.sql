create function textrawl.state_description(
    entity uuid, description text, model integer, embedding halfvec, origin textrawl.origin
) returns uuid
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    former uuid := (
        select (node_description(n.space_id, n.entity_id, n.description_id, everywhere => true)).id
        from graph_node n where n.space_id = origin.space_id and n.entity_id = state_description.entity);
begin
    return (
        select stored.observation_id
        from store_facts(
            read_facts(jsonb_build_array(jsonb_build_object('observation', description, 'replaces', former)),
                       array[entity], array[embedding], origin.space_id, reading => false),
            model, origin) stored);
end
$$;

comment on function textrawl.state_description is
    'Store the description of a node as a fact of its entity, and return the id of the fact. The fact replaces the former '
    'description. The caller has locked the entity.';
