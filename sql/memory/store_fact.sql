create function textrawl.store_fact(
    entity text, type text, observation text, source text, confidence double precision,
    valid_until timestamptz, replaces text, model integer, embedding halfvec, origin textrawl.origin,
    out entity_id uuid, out entity_name text, out entity_type text,
    out observation_id uuid, out duplicate boolean
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    space    integer := origin.space_id;
    moment   timestamptz;
    replaced uuid;
    changed  boolean := false;
    until    timestamptz;
begin
    -- Dropped since the caller asked which one is active: other models' vectors follow by themselves.
    if model is not null and not exists (select from embedding_model m where m.id = model) then
        model := null;
        embedding := null;
    end if;
    select id, stored_name, stored_type into entity_id, entity_name, entity_type
    from claim_entity(entity, type, origin);
    if replaces is not null then
        replaced := find_fact(space, entity_id, replaces);
        -- The same call again finds its own fact by its text: that is a repetition, no correction.
        if exists (select from observation o
                   where o.space_id = space and o.id = replaced
                     and o.content_hash = md5(fact_key(observation))::uuid
                     and o.source = store_fact.source and o.confidence = store_fact.confidence::real
                     and o.valid_until is not distinct from store_fact.valid_until) then
            replaced := null;
        end if;
    end if;
    observation_id := find_duplicate(space, entity_id, observation, valid_until, replaced, model, embedding);
    duplicate := observation_id is not null;
    moment := clock_timestamp();
    if not duplicate then
        insert into observation (space_id, entity_id, entity_type, content, content_hash, source, confidence,
                                 valid_from, valid_until, author_id, client, tool, request, created_at, fts)
        values (space, entity_id, store_fact.entity_type, observation, md5(fact_key(observation))::uuid,
                store_fact.source, store_fact.confidence, moment, store_fact.valid_until,
                origin.author_id, origin.client, origin.tool, origin.request, moment,
                search_document(space, entity_name, observation))
        returning id into observation_id;
        perform store_embedding(space, observation_id, model, embedding);
        update entity e set updated_at = moment where e.space_id = space and e.id = store_fact.entity_id;
    end if;
    if replaced is not null then
        select r.changed, r.valid_until into changed, until from replace_fact(space, replaced, observation_id, moment) r;
    end if;
    perform record_event(
        case when changed then 'replaced' when duplicate then 'repeated' else 'remembered' end,
        entity_id, observation_id, null, origin,
        case when changed then jsonb_build_object('replaced', replaced, 'until', until, 'new', not duplicate)
             -- Said by another as well: an undo of the first must not bring back what both corrected.
             when replaced is not null then jsonb_build_object('replaced', replaced)
             else '{}' end);
end
$$;

comment on function textrawl.store_fact is
    'Stores one fact about an entity, unless a valid one says the same; what remember_fact and build_knowledge do once they know where they write. Errors: TR001, TR002 (replaces), TR003 (was replaced already).';
