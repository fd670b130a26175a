create function textrawl.claim_owner(name text, origin textrawl.origin) returns uuid
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    owner uuid;
begin
    loop
        select e.id into owner from entity e
        where e.space_id = origin.space_id and e.name_key = (select entity_key(origin.space_id, claim_owner.name)) for no key update;
        exit when found;
        perform insert_entity(origin.space_id, claim_owner.name, name_key(claim_owner.name), 'concept', true);
    end loop;
    return owner;
end
$$;

comment on function textrawl.claim_owner is
    'Find or create the entity of a journal entry, and lock it until the transaction ends. The trail has no event for '
    'a new entity, because it has an event for the entry.';
