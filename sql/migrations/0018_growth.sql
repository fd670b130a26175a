-- The dashboard and `textrawl stats` count facts by week, source, author and state. They read only this index.
create index observation_growth_idx on textrawl.observation (space_id, created_at)
    include (source, author_id, confidence, valid_until, replaced_by, id) where relation_id is null;
