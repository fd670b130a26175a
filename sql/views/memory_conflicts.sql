create view textrawl.memory_conflicts with (security_invoker) as
select s.name as space, e.name as entity_name, e.entity_type, pair.reason, pair.similarity,
       one.content, other.content as other_content, one.created_at, other.created_at as other_created_at,
       a.name as author, b.name as other_author, one.id, other.id as other_id
from (
    select o.space_id, o.id as one, o.replaced_by as other, 'replaced' as reason, null::real as similarity
    from textrawl.fact o where o.replaced_by is not null
      and not exists (select from textrawl.revision v where v.space_id = o.space_id and v.observation_id = o.id)
    union all
    select near_pair.space_id, near_pair.one, near_pair.other, 'numbers differ', near_pair.cosine
    from textrawl.near_facts(0.8, 30000, 500) near_pair
) pair
join textrawl.fact one on one.space_id = pair.space_id and one.id = pair.one
join textrawl.fact other on other.space_id = pair.space_id and other.id = pair.other
join textrawl.entity e on e.space_id = one.space_id and e.id = one.entity_id
join textrawl.space s on s.id = one.space_id and s.tier is null
join textrawl.actor a on a.id = one.author_id
join textrawl.actor b on b.id = other.author_id
where pair.reason = 'replaced' or textrawl.numbers_in(one.content) <> textrawl.numbers_in(other.content);

comment on view textrawl.memory_conflicts is 'Facts of one entity that contradict each other. '
    'Either one fact replaced the other (revised facts are left out), or both facts are valid, have a cosine of at least 0.8 and differ in numbers, '
    'weekdays or months. Up to 30,000 pairs are compared, starting with the entities with the newest facts.';
comment on column textrawl.memory_conflicts.space is 'Name of the space.';
comment on column textrawl.memory_conflicts.entity_name is 'Name of the entity of both facts.';
comment on column textrawl.memory_conflicts.entity_type is 'Type of the entity.';
comment on column textrawl.memory_conflicts.reason is 'Reason for the contradiction: replaced, or numbers differ.';
comment on column textrawl.memory_conflicts.similarity is
    'Cosine of the vectors of both facts; null if one fact replaced the other.';
comment on column textrawl.memory_conflicts.content is 'The older fact.';
comment on column textrawl.memory_conflicts.other_content is 'The newer fact.';
comment on column textrawl.memory_conflicts.created_at is 'Time when the older fact was stored.';
comment on column textrawl.memory_conflicts.other_created_at is 'Time when the newer fact was stored.';
comment on column textrawl.memory_conflicts.author is 'Author of the older fact.';
comment on column textrawl.memory_conflicts.other_author is 'Author of the newer fact.';
comment on column textrawl.memory_conflicts.id is 'Id of the older fact.';
comment on column textrawl.memory_conflicts.other_id is 'Id of the newer fact.';
