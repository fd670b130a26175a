-- has_several_authors() reads the first and the last entry of a space. Entries with the same author share their key, so
-- the index of a space with few authors is small. The condition is always true. It keeps the planner from this index in
-- queries that do not repeat it: without statistics, the planner could read all facts of a space in this index.
create index observation_author_idx on textrawl.observation (space_id, author_id) where author_id > 0;
