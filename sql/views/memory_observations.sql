create view textrawl.memory_observations with (security_invoker) as
select s.name as space, o.id, e.name as entity_name, o.entity_type, o.content, o.source, o.confidence,
       o.valid_from, o.valid_until, textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at) as valid, o.replaced_by,
       a.name as author, o.client, o.tool, o.created_at, o.entity_id,
       o.said_at,
       textrawl.find_origin(o.origin, o.tool, o.client, o.source) as origin,
       o.repository,
       o.anchors
from textrawl.fact o
join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
join textrawl.space s on s.id = o.space_id and s.tier is null
join textrawl.actor a on a.id = o.author_id;

comment on view textrawl.memory_observations is 'All facts with entity, author and validity, including ended and replaced facts.';
comment on column textrawl.memory_observations.space is 'Name of the space.';
comment on column textrawl.memory_observations.id is 'Id of the fact; the tools show its first 8 characters.';
comment on column textrawl.memory_observations.entity_name is 'Name of the entity.';
comment on column textrawl.memory_observations.entity_type is 'Type of the entity.';
comment on column textrawl.memory_observations.content is 'Text of the fact.';
comment on column textrawl.memory_observations.source is 'Source of the fact: conversation, note, document or manual.';
comment on column textrawl.memory_observations.confidence is 'Confidence of the author in the fact, from 0 to 1.';
comment on column textrawl.memory_observations.valid_from is 'Time from which the fact is valid.';
comment on column textrawl.memory_observations.valid_until is
    'Time at which the fact ends or ended; null if it has no end.';
comment on column textrawl.memory_observations.valid is 'True if the fact is valid now.';
comment on column textrawl.memory_observations.replaced_by is 'Id of the fact that replaced this fact.';
comment on column textrawl.memory_observations.author is 'Author of the fact.';
comment on column textrawl.memory_observations.client is
    'Name and version of the MCP client that wrote the fact; null if it was written from SQL.';
comment on column textrawl.memory_observations.tool is 'Tool that wrote the fact; sql if it was written from psql.';
comment on column textrawl.memory_observations.created_at is 'Time when the fact was stored.';
comment on column textrawl.memory_observations.entity_id is 'Id of the entity.';
comment on column textrawl.memory_observations.said_at is
    'Time when the fact was said, if its author gave that time; otherwise created_at.';
comment on column textrawl.memory_observations.origin is
    'said (a person typed or accepted it), inferred (an agent concluded it) or external (a page, a tool, a file or an import said it).';
comment on column textrawl.memory_observations.repository is
    'Key of the repository in which the fact was stored, such as github.com/acme/api; null if in none.';
comment on column textrawl.memory_observations.anchors is
    'What the fact speaks of: files of its repository, such as src/parse.py:40-52 with a hash of these lines, and URLs; null if nothing is named.';
