-- Imports of other systems: each run, and each item with the id that its system gave it.

create table import_run (
    space_id    integer not null references space,
    id          uuid not null default gen_random_uuid(),
    system      text not null check (system ~ '^[a-z0-9][a-z0-9-]{0,49}$'),
    author_id   integer not null references actor,
    started_at  timestamptz not null default now(),
    finished_at timestamptz,
    primary key (space_id, id)
);
comment on table import_run is 'A run of `textrawl import` that brought items of another system into a space.';
comment on column import_run.space_id is 'Space into which the items came.';
comment on column import_run.id is 'Id of the run. The events of its writes have the request "import" with this id.';
comment on column import_run.system is 'System that the items come from, such as chatgpt.';
comment on column import_run.author_id is 'Actor who imported.';
comment on column import_run.started_at is 'When the run began.';
comment on column import_run.finished_at is 'When the run ended. Null: it was interrupted, and the next run of the same actor continues it.';

create table imported_item (
    space_id       integer not null,
    system         text not null,
    source_id      text not null check (char_length(source_id) between 1 and 500),
    run_id         uuid not null,
    digest         text not null check (digest ~ '^[0-9a-f]{64}$'),
    document_id    uuid,
    entity_id      uuid,
    observation_id uuid,
    relation_id    uuid,
    stored_at      timestamptz not null default clock_timestamp(),
    primary key (space_id, system, source_id),
    foreign key (space_id, run_id) references import_run,
    foreign key (space_id, document_id) references document on delete cascade,
    foreign key (space_id, entity_id) references entity on delete cascade,
    foreign key (space_id, observation_id) references observation on delete cascade,
    foreign key (space_id, relation_id) references relation on delete cascade,
    check (num_nonnulls(document_id, entity_id, observation_id, relation_id) = 1)
);
comment on table imported_item is 'What an item of another system became. A later import compares the digest, so it stores only items that are new or changed. The row is deleted with what the item became.';
comment on column imported_item.space_id is 'Space of the item.';
comment on column imported_item.system is 'System that the item comes from.';
comment on column imported_item.source_id is 'Id of the item in its system.';
comment on column imported_item.run_id is 'Run that last stored the item.';
comment on column imported_item.digest is 'SHA-256 of the item as it was last stored, in hexadecimal.';
comment on column imported_item.document_id is 'Document that the item became. Null: it became something else.';
comment on column imported_item.entity_id is 'Entity that the item became. Null: it became something else.';
comment on column imported_item.observation_id is 'Fact that the item became. Null: it became something else.';
comment on column imported_item.relation_id is 'Relation that the item became. Null: it became something else.';
comment on column imported_item.stored_at is 'When the item was last stored.';
create index imported_item_run_idx on imported_item (space_id, run_id);
create index imported_item_document_idx on imported_item (space_id, document_id) where document_id is not null;
create index imported_item_entity_idx on imported_item (space_id, entity_id) where entity_id is not null;
create index imported_item_observation_idx on imported_item (space_id, observation_id) where observation_id is not null;
create index imported_item_relation_idx on imported_item (space_id, relation_id) where relation_id is not null;
