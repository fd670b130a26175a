create view textrawl.memory_stale with (security_invoker) as
select s.name as space, o.id, e.name as entity_name, o.entity_type, o.content,
       case when textrawl.is_valid(o.valid_from, o.valid_until) then concat_ws(', ',
           case when greatest(o.created_at, r.last_at) < now() - interval '180 days' then 'old' end,
           case when o.confidence < 0.5 then 'low confidence' end,
           case when r.recalls is null and o.created_at < now() - interval '30 days' then 'never recalled' end)
       else 'recalled though replaced' end as reasons,
       a.name as author, o.confidence, o.created_at, coalesce(r.recalls, 0) as recalls, r.last_at as last_recalled_at, o.replaced_by
from textrawl.fact o
left join textrawl.recalled r on r.space_id = o.space_id and r.observation_id = o.id
join textrawl.entity e on e.space_id = o.space_id and e.id = o.entity_id
join textrawl.space s on s.id = o.space_id and s.tier is null
join textrawl.actor a on a.id = o.author_id
-- Repeat the conditions here. It would take longer to compute the reasons of every fact and then filter by the reasons.
where case when textrawl.is_valid(o.valid_from, o.valid_until)
      then greatest(o.created_at, r.last_at) < now() - interval '180 days' or o.confidence < 0.5
           or r.recalls is null and o.created_at < now() - interval '30 days'
      else o.replaced_by is not null and r.last_at >= o.valid_until end;

comment on view textrawl.memory_stale is 'Facts to review: old, doubtful, never recalled, or recalled after they were replaced.';
comment on column textrawl.memory_stale.space is 'Name of the space.';
comment on column textrawl.memory_stale.id is 'Id of the fact.';
comment on column textrawl.memory_stale.entity_name is 'Name of the entity.';
comment on column textrawl.memory_stale.entity_type is 'Type of the entity.';
comment on column textrawl.memory_stale.content is 'Text of the fact.';
comment on column textrawl.memory_stale.reasons is
    'One or more reasons, separated by commas: old (stored and last recalled more than 180 days ago), low confidence '
    '(below 0.5), never recalled (stored more than 30 days ago), recalled though replaced (in an answer after the '
    'fact was replaced).';
comment on column textrawl.memory_stale.author is 'Author of the fact.';
comment on column textrawl.memory_stale.confidence is 'Confidence of the author in the fact, from 0 to 1.';
comment on column textrawl.memory_stale.created_at is 'Time when the fact was stored.';
comment on column textrawl.memory_stale.recalls is
    'Number of recorded answers of query_memory that contained the fact.';
comment on column textrawl.memory_stale.last_recalled_at is
    'Time of the last of these answers; null if no answer contained the fact.';
comment on column textrawl.memory_stale.replaced_by is 'Id of the fact that replaced this fact.';
