create view textrawl.memory_entities with (security_invoker) as
select s.name as space, e.id, e.name, e.entity_type, e.description, e.metadata, e.created_at, e.updated_at,
       (select count(*) from textrawl.observation o
        where o.space_id = e.space_id and o.entity_id = e.id and (o.valid_until is null or o.valid_until > now())) as facts
from textrawl.entity e
join textrawl.space s on s.id = e.space_id;

comment on view textrawl.memory_entities is 'Entities with the number of their valid facts.';
