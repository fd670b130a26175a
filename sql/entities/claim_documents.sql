create function textrawl.claim_documents(space integer, entities uuid[]) returns uuid[]
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    -- Lock in the order of claim_rows(), because a deletion locks statements about an entity without the entity.
    return array(
        select o.id from observation o
        where o.space_id = claim_documents.space and o.id in (
            select f.id from observation f where f.space_id = claim_documents.space and f.entity_id = any(entities)
            union all
            select r.id from relation r where r.space_id = claim_documents.space and r.to_entity = any(entities))
        order by o.id for no key update);
end
$$;

comment on function textrawl.claim_documents is
    'The facts of some entities and the statements about them, locked until the transaction ends. Lock the entities '
    'first.';
