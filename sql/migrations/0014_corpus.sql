-- The corpus: spaces that hold sources instead of facts, the chunks of the sources, and corrections of the chunks.

alter table space
    add column tier text check (tier in ('public', 'personal', 'sensitive')),
    add column recall_tokens integer check (recall_tokens between 0 and 100000),
    add check (recall_tokens is null or tier is not null);
comment on column space.tier is 'public, personal or sensitive: the space is a graph, which holds sources instead of facts. MCP clients never get texts of sensitive graphs. Null: the space holds facts.';
comment on column space.recall_tokens is 'Largest number of tokens of this graph in one answer. Null: the default of its tier (recall_cap).';

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
