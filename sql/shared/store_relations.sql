create function textrawl.store_relations(
    from_entities uuid[], relations text[], to_entities uuid[], origin textrawl.origin,
    labelled boolean default false,  -- true: if relation_key() changes a relation, store the original as its label
    model integer default null, vectors halfvec[] default null,  -- vectors of the statements, see statement_text()
    aliases uuid[] default null  -- aliases by which the caller named the sources and then the targets, see find_alias()
)
returns table (relation_id uuid, created boolean)
language plpgsql volatile
set search_path from current
-- Use one plan for any number of rows. Otherwise Postgres would plan each call again.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    space  integer := origin.space_id;
    moment timestamptz := clock_timestamp();
    step   interval := '1 microsecond';
    fresh  boolean[];
    ids    uuid[];
begin
    -- If the input has equal relations, store only the first. The caller has locked both entities with claim_entity(),
    -- so no other session stores the relation meanwhile.
    select array_agg(coalesce(r.id, edge.fresh) order by edge.place),
        array_agg(r.id is null and edge.first order by edge.place)
    into ids, fresh
    from (select place, source, relation, target, first_value(id) over twins as fresh, row_number() over twins = 1 as first
          from (select place, source, relation_key(relation) as relation, target, gen_random_uuid() as id
                from unnest(from_entities, relations, to_entities) with ordinality input (source, relation, target, place)) input
          window twins as (partition by source, relation, target order by place)) edge
    -- `limit 1` makes the planner look up each relation in relation_live_idx, which has the relations without an end.
    -- Without `limit 1`, the planner would read all relations if its statistics are from a time with few relations.
    left join lateral (
        select l.id from relation l
        where l.space_id = space and l.from_entity = edge.source and l.relation_type = edge.relation
          and l.to_entity = edge.target and l.valid_until is null limit 1) r on true;
    insert into relation (
        space_id, id, from_entity, relation_type, label, to_entity, valid_from, author_id, client, tool, request, created_at)
    select space, g.id, g.source, relation_key(g.relation), case when labelled then nullif(g.relation, relation_key(g.relation)) end,
        g.target, moment + g.place * step, origin.author_id, origin.client, origin.tool, origin.request, moment + g.place * step
    from unnest(from_entities, relations, to_entities, ids, fresh) with ordinality g (source, relation, target, id, fresh, place)
    where g.fresh;
    perform fill_pending_embeddings(store_relations.model, array_agg(space), array_agg(g.id), array_agg(g.vector))
    from unnest(ids, fresh, vectors) g (id, fresh, vector)
    where g.fresh and g.vector is not null having count(*) > 0;
    -- The source of a relation gets a later time than its target, so lists always show the source first.
    update entity e set updated_at = moment + mentioned.last * step
    from (select entity, max(last) as last
          from unnest(from_entities, to_entities, fresh) with ordinality g (source, target, fresh, place),
               lateral (values (g.source, 2 * g.place), (g.target, 2 * g.place - 1)) mention (entity, last)
          where g.fresh group by entity) mentioned
    where e.space_id = space and e.id = mentioned.entity;
    perform record_event(case when g.fresh then 'related' else 'repeated' end, g.source, null, g.id, origin,
        jsonb_strip_nulls(jsonb_build_object(
            'to', g.target, 'as', aliases[g.place], 'to_as', aliases[cardinality(ids) + g.place])))
    from unnest(from_entities, to_entities, fresh, ids) with ordinality g (source, target, fresh, id, place);
    return query select * from unnest(ids, fresh);
end
$$;

comment on function textrawl.store_relations is
    'Connect entities that claim_entity() has locked. Store one relation for each position of the three arrays. A '
    'relation that exists is not stored again.';
