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
    if type is null or type = coalesce(known.metadata ->> 'type', known.entity_type) then
        return;
    end if;
    update entity e set entity_type = nearest,
        metadata = case when label is null then e.metadata - 'type' else e.metadata || jsonb_build_object('type', label) end
    where e.space_id = origin.space_id and e.id = node;
    perform from observation o
    where o.space_id = origin.space_id and o.entity_id = node and o.entity_type <> nearest
    order by o.id for no key update;
    update observation o set entity_type = nearest
    where o.space_id = origin.space_id and o.entity_id = node and o.entity_type <> nearest;
    perform record_event('retyped', node, null, null, origin);
end
$$;

comment on function textrawl.retype_node is
    'Gives an entity a free type in place of the former, null leaves it. For entities that the caller has claimed, all of them: it locks facts.';
