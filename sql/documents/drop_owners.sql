create function textrawl.drop_owners(space integer, owners uuid[]) returns void
language sql volatile
begin atomic
    delete from textrawl.entity e
    where e.space_id = space and e.id = any(owners)
      and not exists (select from textrawl.document d where d.space_id = space and d.entity_id = e.id)
      and not exists (select from textrawl.observation o where o.space_id = space and o.entity_id = e.id)
      and not exists (select from textrawl.relation r where r.space_id = space and e.id in (r.from_entity, r.to_entity));
end;

comment on function textrawl.drop_owners is
    'Delete the entities of deleted documents, if they have no other documents, no facts and no relations. Call '
    'claim_removal() first.';
