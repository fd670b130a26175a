create view textrawl.memory_observations with (security_invoker) as
select s.name as space, o.id, e.name as entity_name, o.entity_type, o.content, o.source, o.confidence,
       o.valid_from, o.valid_until, textrawl.is_valid(o.valid_from, o.valid_until) as valid, o.replaced_by,
       a.name as author, o.client, o.tool, o.created_at, o.entity_id
from textrawl.observation o
join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
join textrawl.space s on s.id = o.space_id
join textrawl.actor a on a.id = o.author_id;

comment on view textrawl.memory_observations is 'Facts with entity, author and validity, including ended and replaced ones.';
comment on column textrawl.memory_observations.space is 'Name of the space.';
comment on column textrawl.memory_observations.id is 'Id of the fact; the tools show its first 8 characters.';
comment on column textrawl.memory_observations.entity_name is 'Name of the entity.';
comment on column textrawl.memory_observations.entity_type is 'Type of the entity.';
comment on column textrawl.memory_observations.content is 'The text of the fact.';
comment on column textrawl.memory_observations.source is 'conversation, note, document or manual.';
comment on column textrawl.memory_observations.confidence is 'Certainty stated by the author, from 0 to 1.';
comment on column textrawl.memory_observations.valid_from is 'Start of its validity.';
comment on column textrawl.memory_observations.valid_until is 'End of its validity; null: still valid.';
comment on column textrawl.memory_observations.valid is 'True if it is valid now.';
comment on column textrawl.memory_observations.replaced_by is 'Id of the fact that replaced it.';
comment on column textrawl.memory_observations.author is 'Author of the fact.';
comment on column textrawl.memory_observations.client is 'Name and version of the MCP client that wrote it; null from SQL.';
comment on column textrawl.memory_observations.tool is 'The tool that wrote it; sql from psql.';
comment on column textrawl.memory_observations.created_at is 'Time when it was stored.';
comment on column textrawl.memory_observations.entity_id is 'Id of the entity.';
