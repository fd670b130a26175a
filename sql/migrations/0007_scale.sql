-- Facts of a rare type are compared one by one: the index of vectors would pass over nearly all others.
create index observation_type_idx on observation (space_id, entity_type);
