create view textrawl.memory_recalled_facts with (security_invoker) as
select s.name as space, r.id as recall_id, r.at, fact.place::integer as place, e.name as entity_name, o.content, o.id as observation_id
from textrawl.recall r
cross join lateral unnest(r.facts) with ordinality fact (id, place)
join textrawl.observation o on o.space_id = r.space_id and o.id = fact.id
join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
join textrawl.space s on s.id = r.space_id;

comment on view textrawl.memory_recalled_facts is 'The facts of each recall: a row a fact, as far as it belongs to the space of the recall.';
comment on column textrawl.memory_recalled_facts.space is 'Home of who asked, and the fact''s space.';
comment on column textrawl.memory_recalled_facts.recall_id is 'Number of the recall, id of memory_recalls.';
comment on column textrawl.memory_recalled_facts.at is 'When it was answered.';
comment on column textrawl.memory_recalled_facts.place is 'Which of the answer''s facts it was, the best first.';
comment on column textrawl.memory_recalled_facts.entity_name is 'What the fact is about.';
comment on column textrawl.memory_recalled_facts.content is 'The fact.';
comment on column textrawl.memory_recalled_facts.observation_id is 'Id of the fact.';
