create function textrawl.store_edge(
    from_entity uuid, to_entity uuid, type text,
    fields jsonb,  -- values by column, as for describe_edge()
    origin textrawl.origin,
    out relation_id uuid, out created boolean
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    space  integer := origin.space_id;
    moment timestamptz := clock_timestamp();
    former real;
begin
    select r.id, r.strength into relation_id, former from relation r
    where r.space_id = space and r.from_entity = store_edge.from_entity and r.to_entity = store_edge.to_entity
      and r.relation_type = relation_key(store_edge.type) and is_valid(r.valid_from, r.valid_until, r.closed_at, present => moment)
    order by r.valid_until nulls first, r.id limit 1;
    created := relation_id is null;
    if created then
        select s.relation_id into relation_id
        from store_relations(array[store_edge.from_entity], array[store_edge.type], array[store_edge.to_entity], origin,
                             labelled => true) s;
    else
        perform record_event('repeated', store_edge.from_entity, null, relation_id, origin,
                             jsonb_build_object('to', store_edge.to_entity));
    end if;
    perform describe_edge(
        relation_id,
        (select coalesce(jsonb_object_agg(f.key, f.value), '{}') from jsonb_each(fields) f where f.value <> 'null') || jsonb_build_object(
            'strength', greatest(former, coalesce((fields ->> 'strength')::real, 0.5)), 'last_confirmed_at', moment),
        origin, fresh => created);
end
$$;

comment on function textrawl.store_edge is
    'Connect two entities, which the caller has locked. If a valid relation of this type connects them already, the '
    'relation gets the larger weight and the values that are given.';
