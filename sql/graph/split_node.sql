create function textrawl.split_node(
    entity text, splits jsonb,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (names text[], moved bigint, related bigint, remaining bigint)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin    origin := open_write(credential, space, 'write', client, tool, request);
    moment    timestamptz := clock_timestamp();
    source    entity;
    claimed   jsonb;
    child     record;
    target    record;
    fact      record;
    wholes    uuid[];
    moved_ids uuid[];
begin
    select e.* into source from entity e where e.space_id = origin.space_id and e.name_key = (select entity_key(origin.space_id, split_node.entity));
    if source.id is null then
        raise exception using errcode = 'TR050', message = 'no such entity', detail = split_node.entity;
    end if;
    -- Lock existing and new entities in the order of names, like every writer.
    select jsonb_object_agg(part_name.key, to_jsonb(c)) into claimed
    from (select distinct on (key) key, name, coalesce(type, free_type(source.entity_type, source.metadata)) as type, place
          from (select entity_key(origin.space_id, value ->> 'name') as key, value ->> 'name' as name, value ->> 'type' as type, ordinality as place
                from jsonb_array_elements(splits) with ordinality
                union all
                select source.name_key, source.name, null, 0) part
          order by key, place) part_name
    cross join lateral claim_node(part_name.name, part_name.type, moment + part_name.place * interval '1 microsecond', origin) c;
    -- Refuse if the entity was forgotten meanwhile and another entity now has its name.
    if (claimed -> source.name_key ->> 'id')::uuid <> source.id then
        raise exception using errcode = 'TR050', message = 'no such entity', detail = split_node.entity;
    end if;
    moment := clock_timestamp();
    names := '{}'; moved := 0; related := 0;
    for child in select value, ordinality from jsonb_array_elements(splits) with ordinality order by ordinality loop
        select * into target from jsonb_to_record(claimed -> entity_key(origin.space_id, child.value ->> 'name')) m (id uuid, stored_name text);
        if target.id = source.id then
            raise exception using errcode = 'TR005', message = 'both ends are the same entity';
        end if;
        perform retype_node(target.id, coalesce(child.value ->> 'type', free_type(source.entity_type, source.metadata)), origin);
        names := names || case when may_read(credential, origin.space_id) then target.stored_name else child.value ->> 'name' end;
        wholes := array(
            select l.whole
            from long_observations(origin.space_id, array[source.id]) l, jsonb_array_elements_text(child.value -> 'observations') text
            where l.whole = md5(text)::uuid or l.content = text);
        moved_ids := '{}';
        -- If the target already has the same fact, do not move the fact. It stays with the source as history, and the
        -- target's fact replaces it.
        for fact in
            select o.id, coalesce(o.whole, o.id) as observation_key, o.valid_until, twin.id as twin
            from fact o
            join lateral (
                select t.id from fact t
                where t.space_id = o.space_id and t.entity_id = target.id and t.content_hash = o.content_hash and t.content = o.content
                  and (t.whole, t.part) is not distinct from (o.whole, o.part)
                  and is_valid(t.valid_from, t.valid_until, t.closed_at, present => moment)
                order by t.ordinal limit 1) twin on true
            where o.space_id = origin.space_id and o.entity_id = source.id and is_valid(o.valid_from, o.valid_until, o.closed_at, present => moment)
              and (o.whole is null and o.content in (select jsonb_array_elements_text(child.value -> 'observations'))
                   or o.whole = any(wholes))
            order by o.ordinal
        loop
            perform replace_fact(origin.space_id, fact.id, fact.twin, moment, moment);
            moved_ids := moved_ids || fact.observation_key;
            perform record_event('replaced', target.id, fact.twin, null, origin,
                jsonb_build_object('replaced', fact.id, 'until', fact.valid_until, 'new', false));
        end loop;
        for fact in
            update observation o
            set entity_id = target.id, fts = search_document(
                    o.space_id, space_language(o.space_id), document_names(o.space_id, target.id), o.content, nullif(o.said_at, o.created_at)),
                entity_type = (select e.entity_type from entity e where e.space_id = o.space_id and e.id = target.id)
            where o.space_id = origin.space_id and o.entity_id = source.id and o.relation_id is null
              and (o.whole is null and o.content in (select jsonb_array_elements_text(child.value -> 'observations'))
                   or o.whole = any(wholes))
              and not exists (
                select from observation t where t.space_id = o.space_id and t.id = o.replaced_by and t.entity_id = target.id)
            returning o.id, coalesce(o.whole, o.id) as observation_key
        loop
            moved_ids := moved_ids || fact.observation_key;
            perform record_event('moved', target.id, fact.id, null, origin, jsonb_build_object('from', source.id));
        end loop;
        moved := moved + (select count(distinct c) from unnest(moved_ids) c);
        update entity e set updated_at = clock_timestamp() where e.space_id = origin.space_id and e.id in (target.id, source.id);
        related := related + (
            select count(*) from create_edges(jsonb_build_array(
                jsonb_build_object('from', source.name, 'relation', 'contiene', 'to', target.stored_name),
                jsonb_build_object('from', target.stored_name, 'relation', 'parte_de', 'to', source.name)),
                split_node.credential, origin.space_id, split_node.client, split_node.tool, split_node.request));
    end loop;
    remaining := (
        select count(distinct coalesce(o.whole, o.id)) from fact o
        where o.space_id = origin.space_id and o.entity_id = source.id and is_valid(o.valid_from, o.valid_until, o.closed_at, present => moment));
    return next;
end
$$;

comment on function textrawl.split_node is
    'Move facts of an entity to other entities [{name, type, observations}]. Entities that are missing are created. '
    'Relations connect the entity with each of the others in both directions (contiene, parte_de). If one item is '
    'refused, nothing changes. Errors: TR050 (no such entity), TR005 (an item names the entity itself), TR010 to TR012 '
    '(access).';
