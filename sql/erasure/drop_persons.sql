create function textrawl.drop_persons(rows jsonb, touched uuid[], home integer) returns void
language sql volatile
begin atomic
    delete from textrawl.entity e
    where e.space_id = home
      and not exists (select from textrawl.observation o where o.space_id = home and o.entity_id = e.id)
      and not exists (select from textrawl.relation r where r.space_id = home and e.id in (r.from_entity, r.to_entity))
      and not exists (select from textrawl.reflection f where f.space_id = home and f.entity_id = e.id)
      and not exists (select from textrawl.document d where d.space_id = home and d.entity_id = e.id)
      -- Of other entities go those of which nobody else said anything.
      and (rows -> 'entity' ? e.id::text
           or e.id = any(touched) and e.description is null
              and not exists (select from textrawl.entity_alias a where a.space_id = home and a.entity_id = e.id)
              and not exists (select from textrawl.graph_node g where g.space_id = home and g.entity_id = e.id and g.deleted_at is null));
end;

comment on function textrawl.drop_persons is
    'Delete the entities of an erasure, and those that are left without content. An entity of which something stays is kept.';
