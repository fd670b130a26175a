create view textrawl.memory_observations with (security_invoker) as
select s.name as space, o.id, e.name as entity_name, o.entity_type, o.content, o.source, o.confidence,
       o.valid_from, o.valid_until, textrawl.is_valid(o.valid_from, o.valid_until) as valid, o.replaced_by,
       a.name as author, o.client, o.tool, o.created_at, o.entity_id
from textrawl.observation o
join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
join textrawl.space s on s.id = o.space_id
join textrawl.actor a on a.id = o.author_id;

comment on view textrawl.memory_observations is 'Facts with entity, author and validity, those that ended or were replaced included.';
comment on column textrawl.memory_observations.space is 'Name of its space.';
comment on column textrawl.memory_observations.id is 'Id of the fact, its first 8 characters as the tools show it.';
comment on column textrawl.memory_observations.entity_name is 'What it is about.';
comment on column textrawl.memory_observations.entity_type is 'Type of the entity.';
comment on column textrawl.memory_observations.content is 'The statement itself.';
comment on column textrawl.memory_observations.source is 'conversation, note, document or manual.';
comment on column textrawl.memory_observations.confidence is 'How sure its author was, 0 to 1.';
comment on column textrawl.memory_observations.valid_from is 'From this instant on the fact is valid.';
comment on column textrawl.memory_observations.valid_until is 'From this instant on it is not; null: still valid.';
comment on column textrawl.memory_observations.valid is 'Whether it is valid now.';
comment on column textrawl.memory_observations.replaced_by is 'Id of the fact that took its place.';
comment on column textrawl.memory_observations.author is 'Who told it.';
comment on column textrawl.memory_observations.client is 'Name and version of the MCP client that wrote it; null from SQL.';
comment on column textrawl.memory_observations.tool is 'The tool that wrote it; sql from psql.';
comment on column textrawl.memory_observations.created_at is 'When it was stored.';
comment on column textrawl.memory_observations.entity_id is 'Id of the entity.';
