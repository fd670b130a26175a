-- has_several_authors() reads the first and the last entry of a space. Entries with the same author share their key, so
-- the index of a space with few authors is small.
create index observation_author_idx on textrawl.observation (space_id, author_id);
