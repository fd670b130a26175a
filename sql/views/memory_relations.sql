create view textrawl.memory_relations with (security_invoker) as
select s.name as space, r.id, f.name as from_entity, r.relation_type, t.name as to_entity, r.strength,
       r.valid_from, r.valid_until, a.name as author, r.client, r.tool, r.created_at,
       textrawl.is_valid(r.valid_from, r.valid_until) as valid
from textrawl.relation r
join textrawl.entity f on f.space_id = r.space_id and f.id = r.from_entity
join textrawl.entity t on t.space_id = r.space_id and t.id = r.to_entity
join textrawl.space s on s.id = r.space_id
join textrawl.actor a on a.id = r.author_id;

comment on view textrawl.memory_relations is 'Relations with the names of both ends.';
comment on column textrawl.memory_relations.space is 'Name of its space.';
comment on column textrawl.memory_relations.id is 'Id of the relation.';
comment on column textrawl.memory_relations.from_entity is 'Name of the entity that it begins at.';
comment on column textrawl.memory_relations.relation_type is 'What connects them, such as works_at.';
comment on column textrawl.memory_relations.to_entity is 'Name of the entity that it leads to.';
comment on column textrawl.memory_relations.strength is 'How strong the connection is, 0 to 1.';
comment on column textrawl.memory_relations.valid_from is 'From this instant on the relation is valid.';
comment on column textrawl.memory_relations.valid_until is 'From this instant on it is not; null: still valid.';
comment on column textrawl.memory_relations.author is 'Who told it.';
comment on column textrawl.memory_relations.client is 'Name and version of the MCP client that wrote it; null from SQL.';
comment on column textrawl.memory_relations.tool is 'The tool that wrote it; sql from psql.';
comment on column textrawl.memory_relations.created_at is 'When it was stored.';
comment on column textrawl.memory_relations.valid is 'Whether it is valid now.';
