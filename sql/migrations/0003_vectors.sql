-- Embedding models and the facts that still need a vector. create_embedding_model() creates the table embedding_N for
-- the vectors of model N. Searches use only the vectors of the active model. At the same time the vectors of a second
-- model can be computed. The model that was active before is kept for a rollback, until somebody drops it.

create table embedding_model (
    id                 integer generated always as identity primary key,
    name               text not null unique,
    dimensions         integer not null check (dimensions between 1 and 4000),
    cosine_floor       real not null default 0,
    cosine_ceiling     real not null default 1 check (cosine_ceiling > cosine_floor),
    trust              real not null default 0.8 check (trust between 0 and 1),
    calibrated_at      timestamptz,
    status             text not null default 'active' check (status in ('building', 'active', 'previous')),
    status_since       timestamptz not null default now(),
    queued             boolean not null default true,
    queued_space       integer,
    queued_observation uuid,
    created_at         timestamptz not null default now(),
    stands_in_for      text,
    obstacle           text
);
comment on table embedding_model is 'An embedding model. The table embedding_N contains the vectors of model N.';
comment on column embedding_model.id is 'Number of the model. The name of its table of vectors ends with this number.';
comment on column embedding_model.name is 'provider:model, such as openai:text-embedding-3-small.';
comment on column embedding_model.dimensions is 'Number of dimensions of the model''s vectors.';
comment on column embedding_model.cosine_floor is 'Two texts with this cosine or less are unrelated.';
comment on column embedding_model.cosine_ceiling is 'Two texts with this cosine or more mean the same.';
comment on column embedding_model.trust is 'Highest score of a fact that has no word of the query and matches only by its vector. The trust is 0.5 for a model that averages word vectors, and higher for better models.';
comment on column embedding_model.calibrated_at is 'When floor, ceiling and trust were measured with the facts of this memory. Null: these three values are the defaults of textrawl.';
comment on column embedding_model.status is 'building: the model gets vectors. active: the model gets vectors, and searches use them. previous: the model was active and still gets vectors, for a rollback.';
comment on column embedding_model.status_since is 'When the model got its status.';
comment on column embedding_model.queued is 'True: all facts that are older than the model were added to embedding_pending.';
comment on column embedding_model.queued_space is 'Space of the fact in queued_observation. Facts are added in the order of space and id.';
comment on column embedding_model.queued_observation is 'Last fact that was added to embedding_pending. Null: no fact was added yet.';
comment on column embedding_model.created_at is 'When the model was first used in this database.';
comment on column embedding_model.stands_in_for is 'The awaited model: the settings of a server ask for it, but its files were not on the server''s machine. Servers change to it when they have its files. Null: the model stands in for no other model.';
comment on column embedding_model.obstacle is 'Why the awaited model is not used yet, as the last server said.';
create unique index embedding_model_status_idx on embedding_model (status) where status <> 'previous';

create table embedding_pending (
    space_id       integer not null,
    observation_id uuid not null,
    model_id       integer not null references embedding_model on delete cascade,
    attempts       integer not null default 0,
    next_attempt   timestamptz not null default now(),
    primary key (space_id, observation_id, model_id),
    foreign key (space_id, observation_id) references observation on delete cascade
);
comment on table embedding_pending is 'Facts and statements of relations that still need a vector of a model. They were stored while the embedding provider was down, or before the model was added.';
comment on column embedding_pending.space_id is 'Space of the fact.';
comment on column embedding_pending.observation_id is 'Fact or statement without a vector.';
comment on column embedding_pending.model_id is 'Model that has to make the vector.';
comment on column embedding_pending.attempts is 'Number of attempts to make the vector, including an attempt that runs now.';
comment on column embedding_pending.next_attempt is 'When the next attempt is due.';
create index embedding_pending_due_idx on embedding_pending (model_id, next_attempt);

-- This is a table instead of an advisory lock, because every login of the database can take an advisory lock. See
-- removal_lock.
create table vector_index_claim (
    singleton     boolean primary key default true check (singleton),
    pid           integer,
    backend_start timestamptz
);
comment on table vector_index_claim is 'The session that drops and builds vector indexes. claim_vector_indexes() records it and release_vector_indexes() clears it.';
comment on column vector_index_claim.singleton is 'Always true, because the table has one row.';
comment on column vector_index_claim.pid is 'Process id of the session. Null: no session has the claim. The claim of a session that has ended does not count.';
comment on column vector_index_claim.backend_start is 'When the session began. The time distinguishes the session from a later session with the same process id.';
insert into vector_index_claim default values;
