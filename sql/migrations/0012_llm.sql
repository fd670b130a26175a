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
