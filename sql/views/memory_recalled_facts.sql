create view textrawl.memory_recalled_facts with (security_invoker) as
select s.name as space, r.id as recall_id, r.at, fact.place::integer as place, e.name as entity_name, o.content, o.id as observation_id
from textrawl.recall r
cross join lateral unnest(r.facts) with ordinality fact (id, place)
join textrawl.fact o on o.space_id = r.space_id and o.id = fact.id
join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
join textrawl.space s on s.id = r.space_id;

comment on view textrawl.memory_recalled_facts is 'Facts of each recall that belong to the space of the recall, one row for each fact.';
comment on column textrawl.memory_recalled_facts.space is 'Space of the recall and of the fact.';
comment on column textrawl.memory_recalled_facts.recall_id is 'Number of the recall, as in the column id of memory_recalls.';
comment on column textrawl.memory_recalled_facts.at is 'Time of the answer.';
comment on column textrawl.memory_recalled_facts.place is 'Position of the fact in the answer; the best fact has 1.';
comment on column textrawl.memory_recalled_facts.entity_name is 'Name of the entity.';
comment on column textrawl.memory_recalled_facts.content is 'Text of the fact.';
comment on column textrawl.memory_recalled_facts.observation_id is 'Id of the fact.';
