-- The dashboard and `textrawl stats` count facts by week, source, author and state. They read only this index. The last
-- condition is always true. It keeps the planner from this index in queries that do not repeat it: without statistics,
-- the planner would read all facts of a space in this index to find the same fact again.
create index observation_growth_idx on textrawl.observation (space_id, created_at)
    include (source, author_id, confidence, valid_until, replaced_by, id)
    where relation_id is null and created_at >= '-infinity';
