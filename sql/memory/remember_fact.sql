create function textrawl.remember_fact(
    entity text, type text, observation text,
    source text default 'conversation',
    confidence double precision default 1,
    valid_until timestamptz default null,
    replaces text default null,
    model integer default null, embedding halfvec default null,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out entity_id uuid, out entity_name text, out entity_type text,
    out observation_id uuid, out duplicate boolean
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
    fact   jsonb := jsonb_build_object('entity', entity, 'observation', observation, 'source', source,
        'confidence', confidence, 'valid_until', valid_until, 'replaces', replaces);
begin
    select * into entity_id, entity_name, entity_type from claim_entity(entity, type, origin);
    select stored.observation_id, stored.duplicate into observation_id, duplicate
    from store_facts(read_facts(jsonb_build_array(fact), array[embedding], origin.space_id), model, origin) stored;
end
$$;

comment on function textrawl.remember_fact is
    'Stores one fact about an entity, unless a valid one says the same. Errors: TR001, TR002 (replaces), TR003 (was replaced already), TR010 to TR012 (access). Example: select * from textrawl.remember_fact(''Jeff'', ''person'', ''prefers dark mode'');';
