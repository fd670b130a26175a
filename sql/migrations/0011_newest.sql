-- Of a word that every tenth fact has, search looks at the newest.
create index observation_ordinal_idx on observation (ordinal);
