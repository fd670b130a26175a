create view textrawl.memory_timeline with (security_invoker) as
select s.name as space, o.valid_from as at, o.valid_from::date as day, true as became, 'told' as reason,
       e.name as entity_name, o.entity_type, o.content, a.name as author, o.client, o.id as observation_id
from textrawl.fact o
join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
join textrawl.space s on s.id = o.space_id and s.tier is null
join textrawl.actor a on a.id = o.author_id
union all
select s.name, coalesce(v.revised_at, o.valid_until), coalesce(v.revised_at, o.valid_until)::date, false,
       case when v.observation_id is not null then 'revised' when o.replaced_by is null then 'ended' else 'replaced' end,
       e.name, o.entity_type, o.content, a.name,
       case when v.observation_id is not null then v.client when n.id is null then o.client else n.client end, o.id
from textrawl.fact o
left join textrawl.fact n on n.space_id = o.space_id and n.id = o.replaced_by
left join textrawl.revision v on v.space_id = o.space_id and v.observation_id = o.id
join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
join textrawl.space s on s.id = o.space_id and s.tier is null
join textrawl.actor a on a.id = coalesce(v.actor_id, n.author_id, o.author_id)
where o.valid_until is not null and not textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at);

comment on view textrawl.memory_timeline is 'Times at which facts became valid or stopped being valid.';
comment on column textrawl.memory_timeline.space is 'Name of the space.';
comment on column textrawl.memory_timeline.at is 'Time of the change.';
comment on column textrawl.memory_timeline.day is 'Date of the change, in the time zone of the session.';
comment on column textrawl.memory_timeline.became is 'True if the fact became valid, false if it stopped being valid.';
comment on column textrawl.memory_timeline.reason is
    'told (the fact began), replaced (by a newer fact), revised (the fact was wrong) or ended (at its valid_until).';
comment on column textrawl.memory_timeline.entity_name is 'Name of the entity.';
comment on column textrawl.memory_timeline.entity_type is 'Type of the entity.';
comment on column textrawl.memory_timeline.content is 'Text of the fact.';
comment on column textrawl.memory_timeline.author is
    'Author of the fact; for a replaced fact, the author of the newer fact; for a revised fact, who revised it.';
comment on column textrawl.memory_timeline.client is
    'Name and version of the MCP client that made the change; null if it was made from SQL.';
comment on column textrawl.memory_timeline.observation_id is 'Id of the fact.';
