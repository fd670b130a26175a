-- The tables of the memory. Every table that belongs to a space has space_id first in its primary
-- key, unique indexes and foreign keys, so that the schema can be partitioned or distributed by it.
-- Nothing here may depend on a function of ours: functions are dropped and created anew by every
-- migration, tables never.

create table space (
    id         integer generated always as identity primary key,
    name       text not null unique check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    created_at timestamptz not null default now()
);
comment on table space is 'A named memory: a team''s, a project''s, one person''s own. All other rows belong to one.';
comment on column space.name is 'Lower-case letters, digits, - and _; part of addresses.';

insert into space (name) values ('default');

create table actor (
    id         integer generated always as identity primary key,
    name       text not null unique check (char_length(name) between 1 and 200),
    created_at timestamptz not null default now()
);
comment on table actor is 'Somebody who writes: a person, an agent, a service. Until tokens come, the operating-system user.';

create table entity (
    space_id    integer not null references space,
    id          uuid not null default gen_random_uuid(),
    name        text not null check (char_length(name) between 1 and 200),
    name_key    text not null,
    entity_type text not null check (entity_type in
                ('person', 'concept', 'project', 'preference', 'fact', 'location', 'organization')),
    description text,
    metadata    jsonb not null default '{}',
    fts         tsvector not null,
    created_at  timestamptz not null default now(),
    updated_at  timestamptz not null default now(),
    primary key (space_id, id),
    unique (space_id, name_key)
) with (fillfactor = 85);
comment on table entity is 'What facts are about: one row a name and space.';
comment on column entity.name_key is 'name_key(name): the form in which names are compared. One entity a key and space.';
comment on column entity.fts is 'The words of the name, for names that are close to a wrong one.';
comment on column entity.updated_at is 'When a fact or relation was last added to it or taken from it.';
create index entity_updated_at_idx on entity (space_id, updated_at desc, id);
create index entity_name_prefix_idx on entity (space_id, name_key text_pattern_ops);
create index entity_fts_idx on entity using gin (fts) with (fastupdate = off);

create table observation (
    space_id     integer not null,
    id           uuid not null default gen_random_uuid(),
    entity_id    uuid not null,
    entity_type  text not null,
    content      text not null check (char_length(content) between 1 and 2000),
    content_hash uuid not null,
    source       text not null check (source in ('conversation', 'note', 'document', 'manual')),
    confidence   real not null default 1 check (confidence between 0 and 1),
    valid_from   timestamptz not null default now() check (isfinite(valid_from)),
    valid_until  timestamptz check (isfinite(valid_until)),
    replaced_by  uuid,
    author_id    integer not null references actor,
    client       text,
    tool         text not null,
    created_at   timestamptz not null default now() check (isfinite(created_at)),
    fts          tsvector not null,
    primary key (space_id, id),
    foreign key (space_id, entity_id) references entity on delete cascade,
    foreign key (space_id, replaced_by) references observation on delete set null (replaced_by)
) with (fillfactor = 85);
comment on table observation is 'A fact: one atomic statement about an entity. Never edited: a new one replaces an old one.';
comment on column observation.entity_type is 'Copied from the entity, which never changes its type: filters need no join.';
comment on column observation.content_hash is 'md5 of fact_key(content): equal for texts that differ only in case, white space or final punctuation.';
comment on column observation.valid_until is 'From this instant on the fact is not valid; null: still valid.';
comment on column observation.replaced_by is 'The fact that took its place when it stopped being valid.';
comment on column observation.client is 'Name and version of the MCP client that wrote it; null from SQL.';
comment on column observation.tool is 'The tool that wrote it; sql from psql.';
comment on column observation.fts is 'search_document(space_id, name of the entity, content); holds the space as the lexeme ~s<space_id>.';
create index observation_entity_idx on observation (space_id, entity_id, content_hash);
create index observation_replaced_by_idx on observation (space_id, replaced_by) where replaced_by is not null;
create index observation_fts_idx on observation using gin (fts) with (fastupdate = off);

create table relation (
    space_id      integer not null,
    id            uuid not null default gen_random_uuid(),
    from_entity   uuid not null,
    relation_type text not null check (char_length(relation_type) between 1 and 100),
    to_entity     uuid not null check (to_entity <> from_entity),
    strength      real not null default 1 check (strength between 0 and 1),
    valid_from    timestamptz not null default now() check (isfinite(valid_from)),
    valid_until   timestamptz check (isfinite(valid_until)),
    author_id     integer not null references actor,
    client        text,
    tool          text not null,
    created_at    timestamptz not null default now(),
    primary key (space_id, id),
    foreign key (space_id, from_entity) references entity on delete cascade,
    foreign key (space_id, to_entity) references entity on delete cascade
);
comment on table relation is 'A directed, named edge between two entities.';
comment on column relation.relation_type is 'Lower case with _ for white space, such as works_at.';
create unique index relation_live_idx on relation (space_id, from_entity, relation_type, to_entity) where valid_until is null;
create index relation_from_entity_idx on relation (space_id, from_entity);
create index relation_to_entity_idx on relation (space_id, to_entity);

create table embedding_model (
    id             integer generated always as identity primary key,
    name           text not null unique,
    dimensions     integer not null check (dimensions between 1 and 4000),
    cosine_floor   real not null default 0,
    cosine_ceiling real not null default 1 check (cosine_ceiling > cosine_floor),
    trust          real not null default 0.8 check (trust between 0 and 1),
    created_at     timestamptz not null default now()
);
comment on table embedding_model is 'A model that makes vectors; those of model N are in the table embedding_N.';
comment on column embedding_model.name is 'provider:model, such as openai:text-embedding-3-small.';
comment on column embedding_model.cosine_floor is 'Cosine at and below which two texts have nothing to do with each other.';
comment on column embedding_model.cosine_ceiling is 'Cosine at and above which two texts say the same.';
comment on column embedding_model.trust is 'Share of a score that the highest cosine makes where no word matches: 0.5 for averaged word vectors, more for better models.';

create table embedding_pending (
    space_id       integer not null,
    observation_id uuid not null,
    model_id       integer not null references embedding_model on delete cascade,
    attempts       integer not null default 0,
    next_attempt   timestamptz not null default now(),
    primary key (space_id, observation_id, model_id),
    foreign key (space_id, observation_id) references observation on delete cascade
);
comment on table embedding_pending is 'Facts that a model has no vector for yet: stored while the provider was down, or before the model came.';
create index embedding_pending_due_idx on embedding_pending (model_id, next_attempt);

create table lexeme (
    word      text primary key,
    frequency integer not null
);
comment on table lexeme is 'In how many facts a word stands: approximate, from the last refresh_search_statistics().';

create table search_statistics (
    singleton    boolean primary key default true check (singleton),
    facts        double precision not null,
    refreshed_at timestamptz not null default now()
);
comment on table search_statistics is 'Number of facts at the last refresh_search_statistics().';

create table space_statistics (
    space_id integer primary key references space on delete cascade,
    facts    bigint not null
);
comment on table space_statistics is 'Facts per space at the last refresh: small spaces are scanned exactly, large ones by index.';

create table event (
    space_id       integer not null references space,
    id             bigint generated always as identity,
    at             timestamptz not null default now(),
    actor_id       integer not null references actor,
    client         text,
    tool           text not null,
    action         text not null,
    entity_id      uuid,
    observation_id uuid,
    relation_id    uuid,
    detail         jsonb not null default '{}',
    primary key (space_id, id)
);
comment on table event is 'Append-only trail: who did what to which fact, when, by which client and tool. Holds no content.';
comment on column event.action is 'remembered, repeated, replaced, related, created, forgotten.';
comment on column event.detail is 'Counts and ids that belong to the action; never text of a fact.';
create index event_entity_idx on event (space_id, entity_id);
