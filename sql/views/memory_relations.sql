create view textrawl.memory_relations with (security_invoker) as
select s.name as space, r.id, f.name as from_entity, r.relation_type, t.name as to_entity, r.strength,
       r.valid_from, r.valid_until, a.name as author, r.client, r.tool, r.created_at,
       textrawl.is_valid(r.valid_from, r.valid_until, r.closed_at) as valid
from textrawl.relation r
join textrawl.entity f on f.space_id = r.space_id and f.id = r.from_entity
join textrawl.entity t on t.space_id = r.space_id and t.id = r.to_entity
join textrawl.space s on s.id = r.space_id
join textrawl.actor a on a.id = r.author_id;

comment on view textrawl.memory_relations is 'Relations with the names of both entities.';
comment on column textrawl.memory_relations.space is 'Name of the space.';
comment on column textrawl.memory_relations.id is 'Id of the relation.';
comment on column textrawl.memory_relations.from_entity is 'Name of the entity at which the relation begins.';
comment on column textrawl.memory_relations.relation_type is 'Type of the relation, such as works_at.';
comment on column textrawl.memory_relations.to_entity is 'Name of the entity at which the relation ends.';
comment on column textrawl.memory_relations.strength is 'Strength of the relation, from 0 to 1.';
comment on column textrawl.memory_relations.valid_from is 'Time from which the relation is valid.';
comment on column textrawl.memory_relations.valid_until is
    'Time at which the relation ends or ended; null if it has no end.';
comment on column textrawl.memory_relations.author is 'Author of the relation.';
comment on column textrawl.memory_relations.client is
    'Name and version of the MCP client that wrote the relation; null if it was written from SQL.';
comment on column textrawl.memory_relations.tool is 'Tool that wrote the relation; sql if it was written from psql.';
comment on column textrawl.memory_relations.created_at is 'Time when the relation was stored.';
comment on column textrawl.memory_relations.valid is 'True if the relation is valid now.';
