-- space_timeline() reads the facts that began last.

create index observation_valid_from_idx on observation (space_id, valid_from);
