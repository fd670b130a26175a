create function textrawl.store_fact(
    fact jsonb,  -- {entity, type, observation, source, confidence, valid_from, valid_until, said_at, replaces, evidence, evidence_start}
    model integer, embedding halfvec, origin textrawl.origin,
    out entity_id uuid, out entity_name text, out entity_type text,
    out observation_id uuid, out duplicate boolean, out updated boolean, out closest jsonb,
    out ended boolean, out placed_before uuid,  -- see store_facts()
    out same_name text, out period text  -- see store_facts()
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_variable
declare
    type    text := fact ->> 'type';
    guessed boolean;
begin
    select c.id, c.stored_name, c.stored_type, c.guessed into entity_id, entity_name, entity_type, guessed
    from claim_entity(fact ->> 'entity', type, origin) c;
    if guessed and type is not null then
        perform retype_node(entity_id, type, origin);
        entity_type := nearest_type(type);
    end if;
    same_name := own_name(entity_name, entity_type, type);
    select stored.observation_id, stored.duplicate, stored.updated, stored.closest, stored.ended, stored.before, stored.period
    into observation_id, duplicate, updated, closest, ended, placed_before, period
    from store_facts(read_facts(jsonb_build_array(fact), array[entity_id], array[embedding], origin.space_id), model, origin) stored;
end
$$;

comment on function textrawl.store_fact is
    'Store one fact, and create its entity if it is missing. Errors: TR001 or TR002 ("replaces" matches no fact, or '
    'several facts), TR003 (the fact to replace is no longer valid), TR098 (the period ends before it begins).';
