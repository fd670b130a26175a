create function textrawl.connect_entities(
    from_entity text, relation text, to_entity text, from_type text, to_type text,
    replaces boolean,  -- end other relations of this type that start at the same entity
    model integer, embedding halfvec, origin textrawl.origin,
    valid_from timestamptz, valid_until timestamptz,  -- null: not given
    out relation_id uuid, out created boolean,
    out from_id uuid, out from_name text, out from_stored_type text,
    out to_id uuid, out to_name text, out to_stored_type text,
    out ended text[],         -- targets of the relations that ended
    out placed_before text    -- target of the next relation, if the new one begins before it and ends when it begins
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_variable
declare
    source record;
    target record;
    part   record;
    former uuid[];
    next   timestamptz;
    moment timestamptz := clock_timestamp();
    start  timestamptz := period_begin(valid_from, null, valid_until, moment);
begin
    -- Lock the entities in the order of their names, so that two writers cannot deadlock.
    for part in
        select 'source' as part, entity_key(origin.space_id, from_entity) as key
        union all
        select 'target', entity_key(origin.space_id, to_entity)
        union all
        select 'former', t.name_key
        from entity s
        join relation r on r.space_id = s.space_id and r.from_entity = s.id
        join entity t on t.space_id = r.space_id and t.id = r.to_entity
        where replaces and s.space_id = origin.space_id and s.name_key = entity_key(origin.space_id, from_entity)
          and r.relation_type = relation_key(relation) and r.valid_until is null
        order by key
    loop
        case part.part
            when 'source' then source := claim_entity(from_entity, from_type, origin);
            when 'target' then target := claim_entity(to_entity, to_type, origin);
            else perform from entity e where e.space_id = origin.space_id and e.name_key = part.key for no key update;
        end case;
    end loop;
    from_id := source.id; from_name := source.stored_name; from_stored_type := source.stored_type;
    to_id := target.id; to_name := target.stored_name; to_stored_type := target.stored_type;
    if source.guessed and from_type is not null then
        perform retype_node(from_id, from_type, origin);
        from_stored_type := nearest_type(from_type);
    end if;
    if target.guessed and to_type is not null then
        perform retype_node(to_id, to_type, origin);
        to_stored_type := nearest_type(to_type);
    end if;
    if replaces then
        former := array(
            select r.id from relation r
            where r.space_id = origin.space_id and r.from_entity = from_id and r.relation_type = relation_key(relation)
              and r.to_entity <> to_id);
        select begin, e.name into next, placed_before
        from relation r join entity e on e.space_id = r.space_id and e.id = r.to_entity
        cross join lateral present_begin(origin.space_id, from_id, r.valid_from, moment) begin
        where r.space_id = origin.space_id and r.id = any(former) and is_valid(r.valid_from, r.valid_until, r.closed_at, present => moment)
          and begins_before(start, begin, r.created_at)
        order by begin, r.id limit 1;
        if placed_before is null then
            ended := end_relations(former, moment, origin, start);
        else
            valid_until := least(valid_until, next);
        end if;
    end if;
    select stored.relation_id, stored.created into relation_id, created
    from store_relations(
        array[from_id], array[relation], array[to_id], origin, model => connect_entities.model, vectors => array[embedding],
        aliases => array[find_alias(origin.space_id, from_entity), find_alias(origin.space_id, to_entity)],
        valid_from => array[valid_from], valid_until => array[valid_until]) stored;
end
$$;

comment on function textrawl.connect_entities is
    'Connect two entities by a relation, and create the entities that are missing. A relation that exists is not '
    'stored again. Both ends can be the same entity. Error TR098: the period ends before it begins.';
