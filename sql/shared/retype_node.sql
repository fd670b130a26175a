create function textrawl.retype_node(node uuid, type text, origin textrawl.origin) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    nearest text := nearest_type(type);
    label   text := nullif(type, nearest);
    known   entity;
begin
    select * into known from entity e where e.space_id = origin.space_id and e.id = node;
    if type is null or not known.type_guessed and type = free_type(known.entity_type, known.metadata) then
        return;
    end if;
    perform record_event('retyped', node, null, null, origin);
    update entity e set entity_type = nearest, type_guessed = false,
        -- With the entity, so that it is forgotten, exported and put back with it: an undo asks for it.
        metadata = case when label is null then e.metadata - 'type' else e.metadata || jsonb_build_object('type', label) end
            || jsonb_build_object('retyped', coalesce(e.metadata -> 'retyped', '[]') || jsonb_build_object(
                'event', currval(pg_get_serial_sequence('textrawl.event', 'id')),
                'entity_type', e.entity_type, 'type', e.metadata -> 'type', 'guessed', e.type_guessed))
    where e.space_id = origin.space_id and e.id = node;
    perform from observation o
    where o.space_id = origin.space_id and o.entity_id = node and o.entity_type <> nearest
    order by o.id for no key update;
    update observation o set entity_type = nearest
    where o.space_id = origin.space_id and o.entity_id = node and o.entity_type <> nearest;
end
$$;

comment on function textrawl.retype_node is
    'Gives an entity a free type in place of the former, null leaves it; from then on its type is said, not guessed. For entities that the caller has claimed, all of them: it locks facts.';
