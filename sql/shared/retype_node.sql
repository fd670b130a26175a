create function textrawl.retype_node(node uuid, type text, origin textrawl.origin) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    nearest text := nearest_type(type);
    label   text := nullif(type, nearest);
    former  entity;
begin
    select * into former from entity e where e.space_id = origin.space_id and e.id = node;
    if type is null or not former.type_guessed and type = free_type(former.entity_type, former.metadata) then
        return;
    end if;
    perform record_event('retyped', node, null, null, origin);
    update entity e set entity_type = nearest, type_guessed = false,
        -- Undo needs the former type. Keep it in the row of the entity, because that row is forgotten, exported and
        -- restored as a whole.
        metadata = case when label is null then e.metadata - 'type' else e.metadata || jsonb_build_object('type', label) end
            || jsonb_build_object('retyped', coalesce(e.metadata -> 'retyped', '[]') || jsonb_build_object(
                'event', currval(pg_get_serial_sequence('textrawl.event', 'id')),
                'entity_type', e.entity_type, 'type', e.metadata -> 'type', 'guessed', e.type_guessed)
                || jsonb_strip_nulls(jsonb_build_object('repositories', lost_repositories(e.space_id, array[node], nearest))))
    where e.space_id = origin.space_id and e.id = node;
    perform from observation o
    where o.space_id = origin.space_id and o.entity_id = node and (o.entity_type <> nearest or label is not null)
    order by o.id for no key update;
    update observation o
    set entity_type = nearest, repository = fact_repository(nearest, o.repository),
        fts = o.fts || search_document(o.space_id, space_language(o.space_id), coalesce(nullif(label, 'Generic'), ''), '')
    where o.space_id = origin.space_id and o.entity_id = node and (o.entity_type <> nearest or label is not null);
end
$$;

comment on function textrawl.retype_node is
    'Set the free type of an entity, and mark the type as stated by a caller instead of guessed. Facts of what becomes a '
    'person belong to no repository until an undo. A null type changes nothing. This function locks facts, so lock all entities of the call with claim_entity() before.';
