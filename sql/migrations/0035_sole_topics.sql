-- Facts that say what has one value at a time are found by the begin of their sentence: see sole_topic().
create index observation_sole_idx on observation (space_id, entity_id, (claim ->> 'sole')) where claim ? 'sole';
