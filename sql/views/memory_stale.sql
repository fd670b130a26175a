create view textrawl.memory_stale with (security_invoker) as
select s.name as space, o.id, e.name as entity_name, o.entity_type, o.content, o.reasons,
       a.name as author, o.confidence, o.created_at, coalesce(o.recalls, 0) as recalls, o.last_at as last_recalled_at, o.replaced_by
from textrawl.stale_fact o
join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
join textrawl.space s on s.id = o.space_id and s.tier is null
join textrawl.actor a on a.id = o.author_id;

comment on view textrawl.memory_stale is 'Facts to review: old, doubtful, never recalled, or recalled after they were replaced.';
comment on column textrawl.memory_stale.space is 'Name of the space.';
comment on column textrawl.memory_stale.id is 'Id of the fact.';
comment on column textrawl.memory_stale.entity_name is 'Name of the entity.';
comment on column textrawl.memory_stale.entity_type is 'Type of the entity.';
comment on column textrawl.memory_stale.content is 'Text of the fact.';
comment on column textrawl.memory_stale.reasons is
    'One or more reasons, separated by commas: old (stored and last recalled more than 180 days ago), low confidence '
    '(below 0.5), never recalled (stored more than 30 days ago), recalled though replaced (in an answer after the '
    'fact was replaced).';
comment on column textrawl.memory_stale.author is 'Author of the fact.';
comment on column textrawl.memory_stale.confidence is 'Confidence of the author in the fact, from 0 to 1.';
comment on column textrawl.memory_stale.created_at is 'Time when the fact was stored.';
comment on column textrawl.memory_stale.recalls is
    'Number of recorded answers of query_memory that contained the fact.';
comment on column textrawl.memory_stale.last_recalled_at is
    'Time of the last of these answers; null if no answer contained the fact.';
comment on column textrawl.memory_stale.replaced_by is 'Id of the fact that replaced this fact.';
