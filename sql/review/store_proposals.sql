create function textrawl.store_proposals(
    facts jsonb,      -- as in build_knowledge(), with "evidence": the sentence that says it, and "evidence_start"
    relations jsonb,  -- as in build_knowledge(), with "replaces": true to end other relations of the type
    model integer, fact_vectors halfvec[], relation_vectors halfvec[], origin textrawl.origin
)
returns table (proposal_id uuid, duplicate boolean)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    days integer := (select s.proposal_days from space s where s.id = origin.space_id);
    item record;
    fresh uuid;
begin
    -- Another session can have dropped the caller's model.
    model := (select m.id from embedding_model m where m.id = model);
    for item in
        select 'fact' as kind, value, fact_vectors[item_number] as vector, value ->> 'entity' as name, value ->> 'type' as type,
            fact_hash(value ->> 'observation') as hash, item_number
        from jsonb_array_elements(facts) with ordinality f (value, item_number)
        union all
        select 'relation', value, relation_vectors[item_number], value ->> 'from', value ->> 'from_type',
            fact_hash(relation_key(value ->> 'relation') || chr(10) || name_key(value ->> 'to')), item_number
        from jsonb_array_elements(relations) with ordinality r (value, item_number)
        order by kind, item_number
    loop
        fresh := gen_random_uuid();
        return query
            insert into proposal as p
            select stored.*
            from (select item.value as v) given
            -- What a caller gives has the names of the attributes of new_fact.
            cross join lateral jsonb_populate_record(null::proposal, to_jsonb(jsonb_populate_record(null::new_fact, v)) || to_jsonb(origin)
                || jsonb_build_object(
                    'id', fresh, 'repository', fact_repository(
                        coalesce((select e.entity_type from entity e
                                  where e.space_id = origin.space_id and e.name_key = entity_key(origin.space_id, item.name)), nearest_type(item.type)),
                        coalesce(v ->> 'repository', session_repository())), 'created_at', clock_timestamp(), 'kind', item.kind, 'entity_name', item.name,
                    'entity_key', name_key(item.name), 'entity_type', item.type, 'content', v -> 'observation', 'content_hash', item.hash,
                    'given_hash', md5(jsonb_build_array(item.hash, jsonb_strip_nulls(
                        v - array['entity', 'observation', 'from', 'to', 'relation', 'evidence', 'evidence_start', 'anchors']
                        || jsonb_build_object('replaces', nullif(v -> 'replaces', 'false'))))::text)::uuid,
                    'relation_type', v -> 'relation', 'to_name', v -> 'to', 'to_key', name_key(v ->> 'to'), 'to_type', v -> 'to_type',
                    'replaces', case when item.kind = 'fact' then v -> 'replaces' end,
                    'replaces_edges', item.kind = 'relation' and coalesce((v ->> 'replaces')::boolean, false),
                    'model_id', case when item.vector is not null then model end, 'vector', case when model is not null then item.vector::text end,
                    'fts', search_document(origin.space_id, space_language(origin.space_id), item.name,
                        proposal_text(v ->> 'observation', v ->> 'relation', v ->> 'to'), (v ->> 'said_at')::timestamptz))) stored
            -- The author proposes the same again: keep one proposal. With other values it is another proposal, because an
            -- undo can take back only whole proposals.
            on conflict (space_id, author_id, kind, entity_key, given_hash) where decision is null do update
            set anchors = coalesce(excluded.anchors, p.anchors), model_id = coalesce(excluded.model_id, p.model_id), vector = coalesce(excluded.vector, p.vector),
                -- An expired proposal begins again.
                created_at = case when is_pending(null, p.created_at, days) then p.created_at else excluded.created_at end
            returning p.id, p.id <> fresh;
    end loop;
end
$$;

comment on function textrawl.store_proposals is
    'Store facts and relations as proposals, facts first. Entities are named, not created. If the author has the same '
    'proposal pending, it is returned with "duplicate" true. Record the events with '
    'propose_all().';
