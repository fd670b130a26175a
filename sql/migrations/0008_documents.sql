-- Documents: the identity files, the journal entries and the sources of a space, with all their versions. Instances are the programs
-- that share them.

create table instance (
    space_id      integer not null references space,
    id            text not null check (id ~ '^[A-Za-z0-9][A-Za-z0-9._:@-]{0,99}$'),
    instance_type text not null default 'other' check (instance_type in
                  ('psycheros', 'sby', 'sillytavern', 'openwebui', 'claude-code', 'other')),
    name          text check (char_length(name) between 1 and 200),
    version       text check (char_length(version) between 1 and 100),
    created_at    timestamptz not null default clock_timestamp(),
    last_sync     timestamptz check (isfinite(last_sync)),
    primary key (space_id, id)
);
comment on table instance is 'A program that shares the documents of a space with other programs, such as an editor.';
comment on column instance.space_id is 'Space of the documents.';
comment on column instance.id is 'Id that the program gives itself.';
comment on column instance.instance_type is 'Kind of the program. If two instances changed a document and both texts have the same time, the kind decides which text counts.';
comment on column instance.name is 'Name of the program for people.';
comment on column instance.version is 'Version of the program.';
comment on column instance.created_at is 'When the instance was first seen.';
comment on column instance.last_sync is 'When the instance last pulled or pushed. Null: it never did.';

create table document_clock (
    space_id integer primary key references space,
    version  bigint not null
);
comment on table document_clock is 'The number of the last change of the documents of a space. Each change takes the next number, and locks this row until its transaction ends. Therefore the numbers become visible in their order.';
comment on column document_clock.space_id is 'Space of the documents.';
comment on column document_clock.version is 'Number of the last change.';

create table document (
    space_id    integer not null references space,
    id          uuid not null default gen_random_uuid(),
    kind        text not null check (kind in ('identity', 'journal', 'source')),
    path        text not null check (char_length(path) between 1 and 300),
    entity_id   uuid,
    version     bigint,
    changed     bigint not null,
    created_at  timestamptz not null default clock_timestamp() check (isfinite(created_at)),
    primary key (space_id, id),
    unique (space_id, kind, path),
    foreign key (space_id, entity_id) references entity on delete cascade
);
comment on table document is 'An identity file, a journal entry or a source. Its texts are in document_version.';
comment on column document.space_id is 'Space of the document.';
comment on column document.id is 'Id of the document.';
comment on column document.kind is 'identity, journal or source.';
comment on column document.path is 'Key of the document in its space: category/filename of an identity file, granularity/date of a journal entry, with its instance or slug, file/path of an ingested file, clip/id of a remembered text.';
comment on column document.entity_id is 'Entity whose facts are the parts of a journal entry or the chunks of a source. Deleting the entity deletes the document. Null: an identity file.';
comment on column document.version is 'The current version, in document_version. Null: an undo took back all versions.';
comment on column document.changed is 'Number of the last change of this document, from document_clock. A sync returns the documents whose number is higher than the number that the instance knows.';
comment on column document.created_at is 'When the document was first stored.';
create index document_changed_idx on document (space_id, changed);
create index document_entity_idx on document (space_id, entity_id) where entity_id is not null;

create table document_version (
    space_id    integer not null,
    document_id uuid not null,
    version     bigint not null,
    number      integer not null check (number > 0),
    content     text check (char_length(content) <= 5000000),
    attributes  jsonb not null default '{}',
    lost        boolean not null default false,
    modified_at timestamptz not null check (isfinite(modified_at)),
    modified_by text check (char_length(modified_by) between 1 and 200),
    author_id   integer not null references actor,
    client      text,
    tool        text not null,
    request     text,
    created_at  timestamptz not null default clock_timestamp() check (isfinite(created_at)),
    primary key (space_id, document_id, version),
    foreign key (space_id, document_id) references document on delete cascade
);
comment on table document_version is 'Every text of a document, also the texts that an undo took back or that lost a conflict.';
comment on column document_version.space_id is 'Space of the document.';
comment on column document_version.document_id is 'The document.';
comment on column document_version.version is 'Number of the change, from document_clock.';
comment on column document_version.number is 'Number of this version among the versions of the document, from 1.';
comment on column document_version.content is 'The text. Null: this version deletes the document.';
comment on column document_version.attributes is 'For a journal entry: chat_ids, participants and the first instance of the text. For an identity file: label, its prompt label. If it is missing, the label is the filename without .md. For a source: sha256, the hash of the file or the text, and chunks, a list of [part, start, length, tokens]. start is the number of characters before the chunk.';
comment on column document_version.lost is 'True: the text lost a conflict with another instance, so it was never the text of the document.';
comment on column document_version.modified_at is 'When the text was changed, according to the instance. It is never later than the time of storage.';
comment on column document_version.modified_by is 'Instance or person who changed the text, according to the caller.';
comment on column document_version.author_id is 'Actor who stored the version.';
comment on column document_version.client is 'Name and version of the MCP client. Null: the version was stored from SQL.';
comment on column document_version.tool is 'Tool that stored the version.';
comment on column document_version.request is 'Id of the request, as in the log of the server.';
comment on column document_version.created_at is 'When the version was stored.';

create table document_tombstone (
    space_id   integer not null references space,
    kind       text not null,
    path       text not null,
    changed    bigint not null,
    deleted_at timestamptz not null default clock_timestamp(),
    primary key (space_id, kind, path)
);
comment on table document_tombstone is 'A document that was deleted with all its versions. A sync returns the deletion to other instances.';
comment on column document_tombstone.space_id is 'Space of the document.';
comment on column document_tombstone.kind is 'identity, journal or source.';
comment on column document_tombstone.path is 'Path of the document.';
comment on column document_tombstone.changed is 'Number of the deletion, from document_clock.';
comment on column document_tombstone.deleted_at is 'When the document was deleted.';

create table journal_entry (
    space_id    integer not null,
    document_id uuid not null,
    granularity text not null check (granularity in ('daily', 'weekly', 'monthly', 'yearly', 'significant')),
    date        text not null,
    period      daterange not null,
    instance_id text not null,
    slug        text check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and char_length(slug) <= 100),
    primary key (space_id, document_id),
    foreign key (space_id, document_id) references document on delete cascade
);
comment on table journal_entry is 'The subject of a journal entry: a day, a week, a month, a year, or a significant event on a day.';
comment on column journal_entry.space_id is 'Space of the entry.';
comment on column journal_entry.document_id is 'The document with the text.';
comment on column journal_entry.granularity is 'daily, weekly, monthly, yearly or significant.';
comment on column journal_entry.date is 'The period as a text: 2026-05-12, 2026-W19, 2026-05 or 2026.';
comment on column journal_entry.period is 'The days of the period. A week is an ISO week, from Monday to Sunday.';
comment on column journal_entry.instance_id is 'Instance that stored the entry first. For a daily entry it is a part of the key.';
comment on column journal_entry.slug is 'Short name of a significant entry, a part of its key. Null: the entry has no slug.';
create index journal_entry_period_idx on journal_entry (space_id, granularity, date desc);

create table identity_snapshot (
    space_id    integer not null,
    id          text not null,
    document_id uuid not null,
    version     bigint not null,
    reason      text not null check (reason in ('manual', 'scheduled', 'pre-replace')),
    source      text check (char_length(source) between 1 and 200),
    pinned      boolean not null default false,
    created_at  timestamptz not null check (isfinite(created_at)),
    primary key (space_id, id),
    foreign key (space_id, document_id, version) references document_version on delete cascade
);
comment on table identity_snapshot is 'A version of an identity file that is kept for a restore.';
comment on column identity_snapshot.space_id is 'Space of the file.';
comment on column identity_snapshot.id is 'Id of the snapshot: category, name of the file, and time.';
comment on column identity_snapshot.document_id is 'The identity file.';
comment on column identity_snapshot.version is 'The version that is kept.';
comment on column identity_snapshot.reason is 'manual, scheduled or pre-replace. pre-replace: the snapshot was taken before the file was replaced or deleted.';
comment on column identity_snapshot.source is 'Tool or instance that took the snapshot.';
comment on column identity_snapshot.pinned is 'True: the snapshot is kept however old it is.';
comment on column identity_snapshot.created_at is 'When the snapshot was taken.';
create index identity_snapshot_document_idx on identity_snapshot (space_id, document_id, version);
create index identity_snapshot_created_idx on identity_snapshot (space_id, created_at desc);

-- Triggers and their functions belong to the table. They stay when a migration rebuilds the other functions.
create function bury_document() returns trigger
language plpgsql
set search_path from current
as $$
declare
    number bigint;
begin
    insert into document_clock as c (space_id, version) values (old.space_id, 1)
    on conflict (space_id) do update set version = c.version + 1
    returning c.version into number;
    insert into document_tombstone as t (space_id, kind, path, changed) values (old.space_id, old.kind, old.path, number)
    on conflict (space_id, kind, path) do update set changed = excluded.changed, deleted_at = clock_timestamp();
    return null;
end
$$;

comment on function bury_document is 'Keep the path of a deleted document, also if the document was deleted with its entity.';

create trigger document_is_buried after delete on document
for each row execute function bury_document();

-- Sources of the corpus: spaces with a tier are graphs, which hold sources instead of facts.
create table source (
    space_id     integer not null,
    document_id  uuid not null,
    source_kind  text not null check (source_kind in ('clip', 'ai-conversation', 'file')),
    label        text not null check (char_length(label) between 1 and 200),
    content_hash text,
    chunks       integer not null default 0 check (chunks >= 0),
    tokens       bigint not null default 0 check (tokens >= 0),
    primary key (space_id, document_id),
    foreign key (space_id, document_id) references document on delete cascade
);
comment on table source is 'A text of a graph that is searched in chunks: an ingested file, or a text that a client remembered. Its text is in document_version. Its chunks are facts of its entity.';
comment on column source.space_id is 'Graph of the source.';
comment on column source.document_id is 'The document with the text.';
comment on column source.source_kind is 'clip (a text that a client remembered), ai-conversation (a turn or a summary of a conversation) or file.';
comment on column source.label is 'Name of the source for people. It is also the name of its entity.';
comment on column source.content_hash is 'SHA-256 of the file, or of the remembered text, in hexadecimal. Null: an undo took back all versions.';
comment on column source.chunks is 'Number of chunks.';
comment on column source.tokens is 'Tokens of all chunks together.';
create index source_hash_idx on source (space_id, content_hash) where content_hash is not null;

create table chunk (
    space_id       integer not null,
    observation_id uuid not null,
    tokens         integer not null check (tokens >= 0),
    line           integer not null check (line > 0),
    primary key (space_id, observation_id),
    foreign key (space_id, observation_id) references observation on delete cascade
);
comment on table chunk is 'The place and the size of each chunk of a source. The text of the chunk is in observation.';
comment on column chunk.space_id is 'Graph of the chunk.';
comment on column chunk.observation_id is 'The fact with the text of the chunk. observation.whole is the source, observation.part the number of the chunk.';
comment on column chunk.tokens is 'Tokens of the chunk. After a correction or a deletion beside the chunk, the number can be too high, but never too low.';
comment on column chunk.line is 'Line of the source in which the chunk begins, from 1.';

create table correction (
    space_id      integer not null,
    id            uuid not null default gen_random_uuid(),
    document_id   uuid not null,
    part          smallint not null check (part > 0),
    proposal      text not null check (char_length(proposal) between 1 and 10000),
    original_text text not null,
    proposed_text text not null check (char_length(proposed_text) between 1 and 8000),
    tokens        integer not null check (tokens >= 0),
    mode          text not null check (mode in ('llm', 'deterministic')),
    author_id     integer not null references actor,
    client        text,
    request       text,
    created_at    timestamptz not null default clock_timestamp(),
    apply_until    timestamptz not null,
    applied_at    timestamptz,
    event_id      bigint,
    primary key (space_id, id),
    foreign key (space_id, document_id) references source on delete cascade,
    check ((applied_at is null) = (event_id is null))
);
comment on table correction is 'Corrections of chunks: proposed ones for a day, and applied ones as long as the source exists. They hold the old and the new text, because the trail has no texts.';
comment on column correction.space_id is 'Graph of the chunk.';
comment on column correction.id is 'Id of the correction.';
comment on column correction.document_id is 'Source of the chunk.';
comment on column correction.part is 'Number of the chunk in its source.';
comment on column correction.proposal is 'What should change, in the words of the caller.';
comment on column correction.original_text is 'Text of the chunk before the correction.';
comment on column correction.proposed_text is 'Text of the chunk after the correction.';
comment on column correction.tokens is 'Tokens of the proposed text.';
comment on column correction.mode is 'llm: the LLM wrote the proposed text. deterministic: the proposal is the proposed text.';
comment on column correction.author_id is 'Actor who proposed the correction.';
comment on column correction.client is 'Name and version of the MCP client that proposed it. Null: it was proposed from SQL.';
comment on column correction.request is 'Id of the request, as in the log of the server.';
comment on column correction.created_at is 'When the correction was proposed.';
comment on column correction.apply_until is 'When the correction can no longer be applied.';
comment on column correction.applied_at is 'When the correction was applied. Null: it was not applied.';
comment on column correction.event_id is 'Event of the trail that changed the source. Null: the correction was not applied.';
create index correction_document_idx on correction (space_id, document_id);
create index correction_created_idx on correction (space_id, created_at) where applied_at is null;

-- The LLM: the costs of its calls, the journal entries that wait for extraction, and the periods that are consolidated now.

create table llm_use (
    space_id     integer not null references space on delete cascade,
    id           bigint generated always as identity,
    at           timestamptz not null default clock_timestamp() check (isfinite(at)),
    actor_id     integer references actor on delete set null,
    purpose      text not null check (purpose ~ '^[a-z_]{1,40}$'),
    model        text not null check (char_length(model) between 1 and 200),
    requests     integer not null check (requests >= 0),
    tokens_in    bigint not null check (tokens_in >= 0),
    tokens_out   bigint not null check (tokens_out >= 0),
    milliseconds real not null check (milliseconds >= 0),
    error        text check (error ~ '^[A-Z_]{1,40}$'),
    primary key (space_id, id)
);
comment on table llm_use is 'Calls to the LLM: the newest 100,000 of each space, at most 90 days old. A row has no text of a prompt or of an answer.';
comment on column llm_use.space_id is 'Space whose texts were sent to the LLM.';
comment on column llm_use.id is 'Number of the call.';
comment on column llm_use.at is 'When the call ended.';
comment on column llm_use.actor_id is 'Actor for whom the call was made. Null: the actor is not known.';
comment on column llm_use.purpose is 'consolidate, extract, extract_memories or correct.';
comment on column llm_use.model is 'Model of the LLM, with its provider.';
comment on column llm_use.requests is 'Number of HTTP requests of the call, with retries. 0: the call was skipped, because the provider was down.';
comment on column llm_use.tokens_in is 'Tokens of the prompts, as the provider counts them.';
comment on column llm_use.tokens_out is 'Tokens of the answers, as the provider counts them.';
comment on column llm_use.milliseconds is 'Time of the call in milliseconds.';
comment on column llm_use.error is 'Code of the error, such as LLM_UNREACHABLE. Null: the call was successful.';
create index llm_use_at_idx on llm_use (space_id, at);
create index llm_use_actor_idx on llm_use (actor_id) where actor_id is not null;

create table extraction_pending (
    space_id     integer not null,
    document_id  uuid not null,
    version      bigint not null,
    attempts     integer not null default 0 check (attempts >= 0),
    next_attempt timestamptz not null default clock_timestamp(),
    primary key (space_id, document_id),
    foreign key (space_id, document_id) references document on delete cascade
);
comment on table extraction_pending is 'Journal entries that wait until the LLM extracts nodes and edges from their texts. The transaction that writes an entry adds the row.';
comment on column extraction_pending.space_id is 'Space of the entry.';
comment on column extraction_pending.document_id is 'The journal entry.';
comment on column extraction_pending.version is 'Version of the entry that the LLM has to read.';
comment on column extraction_pending.attempts is 'Number of attempts, also of unfinished ones.';
comment on column extraction_pending.next_attempt is 'When a server may try again. A server that works on the entry moves this time into the future.';
create index extraction_pending_next_idx on extraction_pending (next_attempt);

create table extraction_total (
    space_id      integer primary key references space on delete cascade,
    attempts      bigint not null default 0 check (attempts >= 0),
    successes     bigint not null default 0 check (successes >= 0),
    nodes_created bigint not null default 0 check (nodes_created >= 0),
    edges_created bigint not null default 0 check (edges_created >= 0),
    last_attempt  timestamptz,
    last_success  timestamptz,
    last_error    text
);
comment on table extraction_total is 'Totals of the extraction in a space. sync_status shows them.';
comment on column extraction_total.space_id is 'Space of the entries.';
comment on column extraction_total.attempts is 'Number of texts that were sent to the LLM.';
comment on column extraction_total.successes is 'Number of texts that the LLM could read, also texts without nodes and edges.';
comment on column extraction_total.nodes_created is 'Number of new nodes.';
comment on column extraction_total.edges_created is 'Number of new edges.';
comment on column extraction_total.last_attempt is 'When the last attempt ended.';
comment on column extraction_total.last_success is 'When the last successful attempt ended.';
comment on column extraction_total.last_error is 'Error of the last attempt. Null: the last attempt was successful.';

create table consolidation (
    space_id      integer not null references space on delete cascade,
    granularity   text not null check (granularity in ('weekly', 'monthly', 'yearly')),
    period        text not null check (char_length(period) between 4 and 10),
    claimant      uuid not null,
    claimed_until timestamptz not null,
    primary key (space_id, granularity, period)
);
comment on table consolidation is 'Periods of the journal that are being consolidated now. Because of the key, only one server has the claim of a period. After a crash, another server can claim the period as soon as the claim has ended by itself.';
comment on column consolidation.space_id is 'Space of the journal.';
comment on column consolidation.granularity is 'Granularity of the new entry: weekly, monthly or yearly.';
comment on column consolidation.period is 'Period of the new entry: 2026-W19, 2026-05 or 2026.';
comment on column consolidation.claimant is 'Random id of the claim. Only a session that knows the id can end the claim.';
comment on column consolidation.claimed_until is 'When the claim ends by itself.';
