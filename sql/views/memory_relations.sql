create view textrawl.memory_relations with (security_invoker) as
select s.name as space, r.id, f.name as from_entity, r.relation_type, t.name as to_entity, r.strength,
       r.valid_from, r.valid_until, a.name as author, r.client, r.tool, r.created_at
from textrawl.relation r
join textrawl.entity f on f.space_id = r.space_id and f.id = r.from_entity
join textrawl.entity t on t.space_id = r.space_id and t.id = r.to_entity
join textrawl.space s on s.id = r.space_id
join textrawl.actor a on a.id = r.author_id;

comment on view textrawl.memory_relations is 'Relations with the names of both ends.';
