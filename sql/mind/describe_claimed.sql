create function textrawl.describe_claimed(
    entity uuid,
    created boolean,
    input jsonb,       -- a node, as for write_graph(); stored_label: the label, if the entity has another name
    confirm boolean,
    model integer, embedding halfvec, origin textrawl.origin
) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    moment timestamptz := clock_timestamp();
    known  graph_node;
    fields jsonb;
begin
    select * into known from graph_node n where n.space_id = origin.space_id and n.entity_id = describe_claimed.entity;
    if created or known.entity_id is null then
        -- An entity that another tool wrote becomes a node with the given values. A deleted node loses its former values.
        fields := jsonb_build_object(
            'confidence', input -> 'confidence', 'properties', input -> 'properties', 'instance', input -> 'instance',
            'memory', input -> 'memory', 'first_learned_at', input -> 'first_learned_at', 'last_confirmed_at', moment,
            'deleted_at', null, 'description_id', null, 'label', coalesce(input ->> 'stored_label', known.label),
            'label_key', name_key(coalesce(input ->> 'stored_label', known.label)));
        if input ->> 'description' <> '' then
            fields := fields || jsonb_build_object('description_id', state_description(
                describe_claimed.entity, input ->> 'description', model, embedding, origin));
        end if;
        perform describe_node(describe_claimed.entity, fields, origin, fresh => known.entity_id is null);
    elsif confirm then
        perform describe_node(describe_claimed.entity, jsonb_build_object(
            'last_confirmed_at', moment,
            'confidence', greatest(coalesce(known.confidence, 0.5), coalesce((input ->> 'confidence')::real, 0))), origin);
    end if;
end
$$;

comment on function textrawl.describe_claimed is
    'Store the values of a node that claim_labels() claimed. A node that already had values does not change, '
    'except that it is confirmed if `confirm` is true.';
