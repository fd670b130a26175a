create function textrawl.remember_fact(
    entity text, type text, observation text,
    source text default 'conversation',
    confidence double precision default 1,
    valid_until timestamptz default null,
    replaces text default null,
    model integer default null, embedding halfvec default null,
    space integer default textrawl.default_space(),
    author integer default textrawl.register_actor(),
    client text default null, tool text default 'sql',
    out entity_id uuid, out entity_name text, out entity_type text,
    out observation_id uuid, out duplicate boolean
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    moment   timestamptz;
    replaced uuid;
begin
    select id, stored_name, stored_type into entity_id, entity_name, entity_type
    from claim_entity(entity, type, space, author, client, tool);
    if replaces is not null then
        replaced := find_fact(space, entity_id, replaces);
        -- The same call again finds its own fact by its text: that is a repetition, no correction.
        if exists (select from observation o
                   where o.space_id = space and o.id = replaced
                     and o.content_hash = md5(fact_key(observation))::uuid
                     and o.source = remember_fact.source and o.confidence = remember_fact.confidence::real
                     and o.valid_until is not distinct from remember_fact.valid_until) then
            replaced := null;
        end if;
    end if;
    observation_id := find_duplicate(space, entity_id, observation, replaced, model, embedding);
    duplicate := observation_id is not null;
    moment := clock_timestamp();
    if not duplicate then
        insert into observation (space_id, entity_id, entity_type, content, content_hash, source, confidence,
                                 valid_from, valid_until, author_id, client, tool, created_at, fts)
        values (space, entity_id, remember_fact.entity_type, observation, md5(fact_key(observation))::uuid,
                remember_fact.source, remember_fact.confidence, moment, remember_fact.valid_until, author,
                remember_fact.client, remember_fact.tool, moment, search_document(space, entity_name, observation))
        returning id into observation_id;
        perform store_embedding(space, observation_id, model, embedding);
        update entity e set updated_at = moment where e.space_id = space and e.id = remember_fact.entity_id;
    end if;
    if replaced is not null then
        perform replace_fact(space, replaced, observation_id, moment);
    end if;
    perform record_event(
        case when replaced is not null then 'replaced' when duplicate then 'repeated' else 'remembered' end,
        entity_id, observation_id, null, space, author, client, tool,
        case when replaced is null then '{}' else jsonb_build_object('replaced', replaced) end);
end
$$;

comment on function textrawl.remember_fact is
    'Stores one fact about an entity, unless a valid one says the same. Errors: TR001, TR002 (replaces), TR003 (was replaced already). Example: select * from textrawl.remember_fact(''Jeff'', ''person'', ''prefers dark mode'');';
