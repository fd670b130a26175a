create view textrawl.memory_conflicts with (security_invoker) as
select s.name as space, e.name as entity_name, e.entity_type, pair.reason,
       one.content, other.content as other_content, one.created_at, other.created_at as other_created_at,
       a.name as author, b.name as other_author, one.id, other.id as other_id
from (
    select o.space_id, o.id as one, o.replaced_by as other, 'replaced' as reason
    from textrawl.fact o where o.replaced_by is not null
      and not exists (select from textrawl.revision v where v.space_id = o.space_id and v.observation_id = o.id)
    union all
    select c.space_id, c.one, c.other, c.reason from textrawl.conflicting_facts() c
) pair
join textrawl.fact one on one.space_id = pair.space_id and one.id = pair.one
join textrawl.fact other on other.space_id = pair.space_id and other.id = pair.other
join textrawl.entity e on e.space_id = one.space_id and e.id = one.entity_id
join textrawl.space s on s.id = one.space_id and s.tier is null
join textrawl.actor a on a.id = one.author_id
join textrawl.actor b on b.id = other.author_id;

comment on view textrawl.memory_conflicts is 'Facts of one entity that contradict each other. '
    'Either one fact replaced the other (revised facts are left out), or both facts are valid and disagree. Up to 5,000 '
    'facts are compared, those of the entities that changed last. conflicting_facts() accepts other limits.';
comment on column textrawl.memory_conflicts.space is 'Name of the space.';
comment on column textrawl.memory_conflicts.entity_name is 'Name of the entity of both facts.';
comment on column textrawl.memory_conflicts.entity_type is 'Type of the entity.';
comment on column textrawl.memory_conflicts.reason is 'Reason for the contradiction: replaced, other value, or opposite.';
comment on column textrawl.memory_conflicts.content is 'The older fact.';
comment on column textrawl.memory_conflicts.other_content is 'The newer fact.';
comment on column textrawl.memory_conflicts.created_at is 'Time when the older fact was stored.';
comment on column textrawl.memory_conflicts.other_created_at is 'Time when the newer fact was stored.';
comment on column textrawl.memory_conflicts.author is 'Author of the older fact.';
comment on column textrawl.memory_conflicts.other_author is 'Author of the newer fact.';
comment on column textrawl.memory_conflicts.id is 'Id of the older fact.';
comment on column textrawl.memory_conflicts.other_id is 'Id of the newer fact.';
