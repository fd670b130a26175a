create view textrawl.memory_duplicates with (security_invoker) as
select s.name as space, e.name as entity_name, e.entity_type, near_pair.cosine as similarity,
       textrawl.states_the_same(one.content, other.content) as same_statement,
       one.content as content, other.content as other_content, one.id, other.id as other_id,
       one.created_at, other.created_at as other_created_at
from textrawl.near_facts(0.9) near_pair
join textrawl.fact one on one.space_id = near_pair.space_id and one.id = near_pair.one
join textrawl.fact other on other.space_id = near_pair.space_id and other.id = near_pair.other
join textrawl.entity e on e.space_id = one.space_id and e.id = one.entity_id
join textrawl.space s on s.id = one.space_id and s.tier is null;

comment on view textrawl.memory_duplicates is 'Pairs of valid facts of one entity with very similar vectors. '
    'Up to a million pairs are compared, starting with the entities with the newest facts. The view shows the 5,000 '
    'most similar pairs. near_facts() accepts other limits.';
comment on column textrawl.memory_duplicates.space is 'Name of the space.';
comment on column textrawl.memory_duplicates.entity_name is 'Name of the entity of both facts.';
comment on column textrawl.memory_duplicates.entity_type is 'Type of the entity.';
comment on column textrawl.memory_duplicates.similarity is 'Cosine of the vectors of both facts, from 0.9 to 1.';
comment on column textrawl.memory_duplicates.same_statement is
    'True if both facts also have the same numbers, names, negations and order of words.';
comment on column textrawl.memory_duplicates.content is 'The older fact.';
comment on column textrawl.memory_duplicates.other_content is 'The newer fact.';
comment on column textrawl.memory_duplicates.id is 'Id of the older fact.';
comment on column textrawl.memory_duplicates.other_id is 'Id of the newer fact.';
comment on column textrawl.memory_duplicates.created_at is 'Time when the older fact was stored.';
comment on column textrawl.memory_duplicates.other_created_at is 'Time when the newer fact was stored.';
