create view textrawl.memory_observations with (security_invoker) as
select s.name as space, o.id, e.name as entity_name, o.entity_type, o.content, o.source, o.confidence,
       o.valid_from, o.valid_until, o.valid_until is null or o.valid_until > now() as valid, o.replaced_by,
       a.name as author, o.client, o.tool, o.created_at, o.entity_id
from textrawl.observation o
join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
join textrawl.space s on s.id = o.space_id
join textrawl.actor a on a.id = o.author_id;

comment on view textrawl.memory_observations is 'Facts with entity, author and validity, those that ended or were replaced included.';
