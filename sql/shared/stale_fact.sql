create view textrawl.stale_fact with (security_invoker) as
-- The subqueries without a table are computed once. Postgres would compute the same expressions for each fact.
select s.*, case when s.outdated then 'recalled though replaced' else concat_ws(', ',
           case when s.old then 'old' end,
           case when s.doubtful then 'low confidence' end,
           case when s.unused then 'never recalled' end) end as reasons
from (
    select o.space_id, o.id, o.entity_id, o.entity_type, o.content, o.author_id, o.confidence, o.created_at, o.replaced_by,
           r.recalls, r.last_at,
           textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)
               and greatest(o.created_at, o.confirmed_at, r.last_at, d.created_at) < (select now() - interval '180 days') as old,
           d.id is null and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at) and o.confidence < 0.5 as doubtful,
           d.id is null and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at) and r.recalls is null
               and coalesce(o.confirmed_at, o.created_at) < (select now() - interval '30 days') as unused,
           d.id is null and not textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at) and o.replaced_by is not null
               and r.last_at >= o.valid_until as outdated
    from textrawl.fact o
    left join textrawl.recalled r on r.space_id = o.space_id and r.observation_id = o.id
    left join textrawl.dismissal d on d.space_id = o.space_id and d.kind = 'stale' and d.one = o.id and d.other = o.id
    -- The index observation_growth_idx needs this condition.
    where o.created_at >= '-infinity') s
where s.old or s.doubtful or s.unused or s.outdated;

comment on view textrawl.stale_fact is
    'Facts to review, without the names of spaces, entities and authors. memory_stale shows them with these names.';
comment on column textrawl.stale_fact.space_id is 'Space of the fact.';
comment on column textrawl.stale_fact.id is 'Id of the fact.';
comment on column textrawl.stale_fact.entity_id is 'Entity of the fact.';
comment on column textrawl.stale_fact.entity_type is 'Type of the entity.';
comment on column textrawl.stale_fact.content is 'Text of the fact.';
comment on column textrawl.stale_fact.author_id is 'Author of the fact.';
comment on column textrawl.stale_fact.confidence is 'Confidence of the author in the fact, from 0 to 1.';
comment on column textrawl.stale_fact.created_at is 'Time when the fact was stored.';
comment on column textrawl.stale_fact.replaced_by is 'Id of the fact that replaced this fact.';
comment on column textrawl.stale_fact.recalls is
    'Number of recorded answers of query_memory that contained the fact; null if no answer contained it.';
comment on column textrawl.stale_fact.last_at is
    'Time of the last of these answers; null if no answer contained the fact.';
comment on column textrawl.stale_fact.old is 'True: valid, but stored, last confirmed, last dismissed and last recalled more than 180 days ago.';
comment on column textrawl.stale_fact.doubtful is 'True: valid, but its confidence is below 0.5.';
comment on column textrawl.stale_fact.unused is 'True: valid, stored and last confirmed more than 30 days ago, but never recalled.';
comment on column textrawl.stale_fact.outdated is 'True: in an answer after the fact was replaced.';
comment on column textrawl.stale_fact.reasons is 'One or more reasons, separated by commas: see memory_stale.';
