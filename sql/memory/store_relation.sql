create function textrawl.store_relation(
    from_entity text, relation text, to_entity text, from_type text, to_type text, origin textrawl.origin,
    out relation_id uuid, out created boolean,
    out from_id uuid, out from_name text, out from_stored_type text,
    out to_id uuid, out to_name text, out to_stored_type text
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    space integer := origin.space_id;
    key   text := relation_key(relation);
    moment timestamptz;
begin
    if name_key(from_entity) = name_key(to_entity) then
        raise exception using errcode = 'TR005', message = 'both ends are the same entity';
    end if;
    -- Always in the order of the names, so that two writers never wait for each other in a circle.
    if name_key(from_entity) < name_key(to_entity) then
        select * into from_id, from_name, from_stored_type from claim_entity(from_entity, coalesce(from_type, 'concept'), origin);
        select * into to_id, to_name, to_stored_type from claim_entity(to_entity, coalesce(to_type, 'concept'), origin);
    else
        select * into to_id, to_name, to_stored_type from claim_entity(to_entity, coalesce(to_type, 'concept'), origin);
        select * into from_id, from_name, from_stored_type from claim_entity(from_entity, coalesce(from_type, 'concept'), origin);
    end if;
    select r.id into relation_id from relation r
    where r.space_id = space and r.from_entity = from_id and r.relation_type = key and r.to_entity = to_id and r.valid_until is null;
    created := relation_id is null;
    if created then
        insert into relation (space_id, from_entity, relation_type, to_entity, author_id, client, tool, request)
        values (space, from_id, key, to_id, origin.author_id, origin.client, origin.tool, origin.request)
        returning id into relation_id;
        moment := clock_timestamp();
        -- Whom it is about comes before its object in a list, in whatever order the rows are found.
        update entity set updated_at = moment - case when id = to_id then interval '1 microsecond' else interval '0' end
        where space_id = space and id in (from_id, to_id);
    end if;
    perform record_event(case when created then 'related' else 'repeated' end, from_id, null, relation_id, origin, jsonb_build_object('to', to_id));
end
$$;

comment on function textrawl.store_relation is
    'Connects two entities; what relate_entities and build_knowledge do once they know where they write. Error TR005: both ends are the same.';
