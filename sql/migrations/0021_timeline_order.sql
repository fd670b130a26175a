-- All facts of an import begin at one time, so a timeline is in the order of times and ids.
drop index observation_valid_from_idx;
create index observation_valid_from_idx on observation (space_id, valid_from, id);
drop index observation_valid_until_idx;
create index observation_valid_until_idx on observation (space_id, valid_until, id) where valid_until is not null;
