create view textrawl.memory_stale with (security_invoker) as
select s.name as space, o.id, e.name as entity_name, o.entity_type, o.content,
       case when textrawl.is_valid(o.valid_from, o.valid_until) then concat_ws(', ',
           case when greatest(o.created_at, r.last_at) < now() - interval '180 days' then 'old' end,
           case when o.confidence < 0.5 then 'low confidence' end,
           case when r.recalls is null and o.created_at < now() - interval '30 days' then 'never recalled' end)
       else 'recalled though replaced' end as reasons,
       a.name as author, o.confidence, o.created_at, coalesce(r.recalls, 0) as recalls, r.last_at as last_recalled_at, o.replaced_by
from textrawl.observation o
left join textrawl.recalled r on r.space_id = o.space_id and r.observation_id = o.id
join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
join textrawl.space s on s.id = o.space_id
join textrawl.actor a on a.id = o.author_id
-- Repeat the conditions: computing the reasons of every fact only to filter by them takes longer.
where case when textrawl.is_valid(o.valid_from, o.valid_until)
      then greatest(o.created_at, r.last_at) < now() - interval '180 days' or o.confidence < 0.5
           or r.recalls is null and o.created_at < now() - interval '30 days'
      else o.replaced_by is not null and r.last_at >= o.valid_until end;

comment on view textrawl.memory_stale is 'Facts to review: old, of low confidence, never recalled, or recalled after they were replaced.';
comment on column textrawl.memory_stale.space is 'Name of the space.';
comment on column textrawl.memory_stale.id is 'Id of the fact.';
comment on column textrawl.memory_stale.entity_name is 'Name of the entity.';
comment on column textrawl.memory_stale.entity_type is 'Type of the entity.';
comment on column textrawl.memory_stale.content is 'The text of the fact.';
comment on column textrawl.memory_stale.reasons is
    'One or more of these, separated by commas: old (neither stored nor recalled within 180 days), low confidence (below '
    '0.5), never recalled (within 30 days or more), recalled though replaced.';
comment on column textrawl.memory_stale.author is 'Author of the fact.';
comment on column textrawl.memory_stale.confidence is 'Certainty stated by the author, from 0 to 1.';
comment on column textrawl.memory_stale.created_at is 'Time when it was stored.';
comment on column textrawl.memory_stale.recalls is 'Number of answers of query_memory that contained it, since recalls are recorded.';
comment on column textrawl.memory_stale.last_recalled_at is 'Time of the last of these answers.';
comment on column textrawl.memory_stale.replaced_by is 'Id of the fact that replaced it.';
