create function textrawl.store_relations(from_entities uuid[], relations text[], to_entities uuid[], origin textrawl.origin)
returns table (relation_id uuid, created boolean)
language plpgsql volatile
set search_path from current
-- One plan for any number of rows: otherwise each call would be planned again.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    space  integer := origin.space_id;
    moment timestamptz := clock_timestamp();
    fresh  boolean[];
    ids    uuid[];
begin
    -- Store only the first of equal relations. Both ends are claimed, so no other session stores it meanwhile.
    select array_agg(coalesce(r.id, edge.fresh) order by edge.place),
        array_agg(r.id is null and edge.first order by edge.place)
    into ids, fresh
    from (select place, source, relation, target, first_value(id) over twins as fresh, row_number() over twins = 1 as first
          from (select place, source, relation_key(relation) as relation, target, gen_random_uuid() as id
                from unnest(from_entities, relations, to_entities) with ordinality input (source, relation, target, place)) input
          window twins as (partition by source, relation, target order by place)) edge
    left join relation r on r.space_id = space and r.from_entity = edge.source and r.relation_type = edge.relation
        and r.to_entity = edge.target and r.valid_until is null;
    insert into relation (space_id, id, from_entity, relation_type, to_entity, author_id, client, tool, request)
    select space, g.id, g.source, relation_key(g.relation), g.target, origin.author_id, origin.client, origin.tool, origin.request
    from unnest(from_entities, relations, to_entities, ids, fresh) g (source, relation, target, id, fresh)
    where g.fresh;
    -- A list shows the source of a relation before its target, whatever order the rows are found in.
    update entity e set updated_at = moment + mentioned.last * interval '1 microsecond'
    from (select entity, max(last) as last
          from unnest(from_entities, to_entities, fresh) with ordinality g (source, target, fresh, place),
               lateral (values (g.source, 2 * g.place), (g.target, 2 * g.place - 1)) mention (entity, last)
          where g.fresh group by entity) mentioned
    where e.space_id = space and e.id = mentioned.entity;
    perform record_event(case when g.fresh then 'related' else 'repeated' end, g.source, null, g.id, origin, jsonb_build_object('to', g.target))
    from unnest(from_entities, to_entities, fresh, ids) g (source, target, fresh, id);
    return query select * from unnest(ids, fresh);
end
$$;

comment on function textrawl.store_relations is
    'Connect claimed entities, one relation for each position of the three arrays; a relation that exists is not stored '
    'again.';
