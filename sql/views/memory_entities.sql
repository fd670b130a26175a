create view textrawl.memory_entities with (security_invoker) as
select s.name as space, e.id, e.name, e.entity_type,
       textrawl.entity_description(e.space_id, e.id, e.description) as description, e.metadata::text, e.created_at, e.updated_at,
       (select count(*) from textrawl.fact o
        where o.space_id = e.space_id and o.entity_id = e.id and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)) as facts
from textrawl.entity e
join textrawl.space s on s.id = e.space_id and s.tier is null;

comment on view textrawl.memory_entities is 'Entities with the number of their valid facts.';
comment on column textrawl.memory_entities.space is 'Name of the space.';
comment on column textrawl.memory_entities.id is 'Id of the entity.';
comment on column textrawl.memory_entities.name is 'Name of the entity as it was first written.';
comment on column textrawl.memory_entities.entity_type is
    'One of person, concept, project, preference, fact, location, organization.';
comment on column textrawl.memory_entities.description is
    'Description of the entity in one sentence; null if no description was given.';
comment on column textrawl.memory_entities.metadata is 'Data that tools keep with the entity, as JSON.';
comment on column textrawl.memory_entities.created_at is 'Time when the entity was created.';
comment on column textrawl.memory_entities.updated_at is
    'Time when a fact or relation of the entity was last added, changed or removed.';
comment on column textrawl.memory_entities.facts is 'Number of facts about the entity that are valid now.';
