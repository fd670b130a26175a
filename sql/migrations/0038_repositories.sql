-- The repository in which a fact was stored. It orders and filters what a search finds, and is no right.

alter table observation add column repository text check (char_length(repository) between 1 and 300);
comment on column observation.repository is
    'Key of the repository of the session that stored the fact, such as github.com/acme/api. Null: of none, as facts about people and preferences are.';
create index observation_repository_idx on observation (space_id, repository, created_at) where repository is not null;
alter table proposal add column repository text check (char_length(repository) between 1 and 300);
comment on column proposal.repository is
    'Key of the repository of the session that proposed it. Null: of none.';
alter type new_fact add attribute repository text;
comment on column new_fact.repository is 'Key of the repository of the fact. Null: of none.';
