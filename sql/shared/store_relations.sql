create function textrawl.store_relations(
    from_entities uuid[], relations text[], to_entities uuid[], origin textrawl.origin,
    labelled boolean default false,  -- true: the label is the relation as it was sent; false: its relation_label()
    model integer default null, vectors halfvec[] default null,  -- vectors of the statements, see statement_text()
    aliases uuid[] default null,  -- aliases by which the caller named the sources and then the targets, see find_alias()
    valid_from timestamptz[] default null, valid_until timestamptz[] default null  -- null: not given
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
    keys   text[];  -- relation_key() of each relation
    known  record;
begin
    if exists (select from unnest(valid_from, valid_until) period (start, ending) where start >= ending) then
        raise exception using errcode = 'TR098', message = 'a period ends before it begins';
    end if;
    -- If the input has equal relations, store only the first. The caller has locked both entities with claim_entity(),
    -- so no other session stores the relation meanwhile.
    select array_agg(coalesce(r.id, edge.fresh) order by edge.place),
        array_agg(r.id is null and edge.first order by edge.place), array_agg(edge.relation order by edge.place)
    into ids, fresh, keys
    from (select place, source, relation, target, start, ending, first_value(id) over twins as fresh,
              row_number() over twins = 1 as first
          from (select place, source, relation_key(relation) as relation, target, start, ending, gen_random_uuid() as id
                from unnest(from_entities, relations, to_entities, valid_from, valid_until)
                    with ordinality input (source, relation, target, start, ending, place)) input
          window twins as (partition by source, relation, target, ending order by place)) edge
    -- `limit 1` makes the planner look up each relation in relation_live_idx, which has the relations without an end.
    -- Without `limit 1`, the planner would read all relations if its statistics are from a time with few relations.
    left join lateral (
        select l.id from relation l
        where l.space_id = space and l.from_entity = edge.source and l.relation_type = edge.relation
          and l.to_entity = edge.target and l.valid_until is null
          -- A given end ends the relation, unless it is the end of an earlier or another period. If the clock went
          -- back, a stored relation can seem to begin after the given end, but it began earlier.
          and (edge.ending is null or edge.ending > l.valid_from and same_occasion(edge.start, l.valid_from, l.created_at)
               or edge.start is null and l.created_at > moment)
        limit 1) open on true
    left join lateral (
        select l.id from relation l
        where edge.ending is not null and l.space_id = space and l.from_entity = edge.source and l.relation_type = edge.relation
          and l.to_entity = edge.target and l.valid_until = edge.ending
          and same_occasion(edge.start, l.valid_from, l.created_at) limit 1) former on true
    cross join lateral (select coalesce(open.id, former.id) as id) r;
    -- Most calls give no times, and change no relation that exists.
    if array_remove(valid_from || valid_until, null) <> '{}' then
        for known in
            select l.id, l.from_entity, l.valid_from, l.valid_until, g.start, g.ending
            from unnest(ids, fresh, valid_from, valid_until) g (id, fresh, start, ending)
            join relation l on l.space_id = space and l.id = g.id
            where not g.fresh and l.valid_until is null and num_nonnulls(g.start, g.ending) > 0
        loop
            if not same_occasion(known.start, known.valid_from, moment) then
                update relation l set valid_from = known.start where l.space_id = space and l.id = known.id;
                perform record_change(known.from_entity, known.id, jsonb_build_object('valid_from', known.valid_from),
                                      jsonb_build_object('valid_from', known.start), origin);
            end if;
            if known.ending is not null then
                perform end_relations(array[known.id], moment, origin, known.ending);
            end if;
        end loop;
    end if;
    insert into relation (space_id, id, from_entity, relation_type, label, to_entity, valid_from, valid_until, closed_at, author_id,
                          client, tool, request, created_at)
    select space, g.id, g.source, g.key,
        nullif(case when labelled then g.relation else relation_label(g.relation) end, g.key),
        g.target, period_begin(g.start, null, g.ending, moment + g.place * step), g.ending, past_end(g.ending), origin.author_id,
        origin.client, origin.tool, origin.request, moment + g.place * step
    from unnest(from_entities, relations, keys, to_entities, ids, fresh, valid_from, valid_until)
        with ordinality g (source, relation, key, target, id, fresh, start, ending, place)
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
    'relation that exists is not stored again: it gets the given begin and end. Error TR098: a period ends before it '
    'begins.';
