create view textrawl.memory_revisions with (security_invoker) as
select s.name as space, e.name as entity_name, e.entity_type, o.content as wrong, v.reason, n.content as instead,
       v.revised_at, r.name as revised_by, v.client, a.name as author, o.id, n.id as instead_id
from textrawl.revision v
join textrawl.fact o on o.space_id = v.space_id and o.id = v.observation_id
left join textrawl.fact n on n.space_id = o.space_id and n.id = o.replaced_by
join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
join textrawl.space s on s.id = o.space_id
join textrawl.actor r on r.id = v.actor_id
join textrawl.actor a on a.id = o.author_id;

comment on view textrawl.memory_revisions is 'Facts that somebody marked as wrong, with the reason and the fact that is right. '
    'Example: select entity_name, wrong, reason, instead from textrawl.memory_revisions order by revised_at desc;';
comment on column textrawl.memory_revisions.space is 'Name of the space.';
comment on column textrawl.memory_revisions.entity_name is 'Name of the entity.';
comment on column textrawl.memory_revisions.entity_type is 'Type of the entity.';
comment on column textrawl.memory_revisions.wrong is 'Text of the wrong fact.';
comment on column textrawl.memory_revisions.reason is 'Why the fact was wrong.';
comment on column textrawl.memory_revisions.instead is 'Text of the fact that is right; null if the fact was only wrong.';
comment on column textrawl.memory_revisions.revised_at is 'Time when the fact was revised.';
comment on column textrawl.memory_revisions.revised_by is 'Actor who revised the fact.';
comment on column textrawl.memory_revisions.client is
    'Name and version of the MCP client that revised the fact; null if it was revised from SQL.';
comment on column textrawl.memory_revisions.author is 'Author of the wrong fact.';
comment on column textrawl.memory_revisions.id is 'Id of the wrong fact.';
comment on column textrawl.memory_revisions.instead_id is 'Id of the fact that is right.';
