-- Recalls: one row per answer, with the question if RECORD_RECALLS allows it. What people ask and what
-- an answer costs can then be analysed.

create table recall (
    space_id       integer not null references space on delete cascade,
    id             bigint generated always as identity,
    at             timestamptz not null check (isfinite(at)),
    actor_id       integer references actor on delete set null,
    client         text,
    mode           text not null,
    query          text check (char_length(query) <= 500),
    query_hash     text,
    hits           integer check (hits >= 0),
    score          real,
    cosine         real,
    coverage       real,
    facts          uuid[] not null default '{}',
    format         text not null,
    structured     boolean not null,
    tokens         integer not null check (tokens >= 0),
    verbose_tokens integer check (verbose_tokens >= 0),
    budget         integer not null check (budget > 0),
    items          integer not null check (items >= 0),
    dropped        integer not null check (dropped >= 0),
    milliseconds   real check (milliseconds >= 0),
    primary key (space_id, id)
);
comment on table recall is 'Answers of query_memory and of the graph tools that read: the newest 100,000 of each space, at most 90 days old. RECORD_RECALLS decides whether the question is kept.';
comment on column recall.space_id is 'Home space of the caller.';
comment on column recall.id is 'Number of the recall.';
comment on column recall.at is 'When it was answered. The row is written seconds later.';
comment on column recall.actor_id is 'Actor who asked. Null: a session without a token.';
comment on column recall.client is 'Name and version of the MCP client. Null: it sent none.';
comment on column recall.mode is 'search, entity or list.';
comment on column recall.query is 'The question or the entity name, its first 500 characters. Null: not kept because of RECORD_RECALLS=hash, or removed when the entity was forgotten.';
comment on column recall.query_hash is 'First 16 hexadecimal digits of a SHA-256. Questions that differ only in case and white space have the same hash. It hides no question that can be guessed.';
comment on column recall.hits is 'Number of facts that were found, including those that did not fit the answer.';
comment on column recall.score is 'Score of the best fact, 0 to 1. Null: none found, or not a search.';
comment on column recall.cosine is 'Highest cosine of the question and a fact. Null: no vectors.';
comment on column recall.coverage is 'Largest weighted share of the words of the question that one fact contains.';
comment on column recall.facts is 'Ids of the facts in the answer that belong to the space of this row, best first.';
comment on column recall.format is 'Format of the text: compact, lines or verbose.';
comment on column recall.structured is 'True: structured content was sent beside the text.';
comment on column recall.tokens is 'Tokens that count against the budget: the sum of all channels, or the larger channel for the graph tools.';
comment on column recall.verbose_tokens is 'Tokens of the same answer as verbose text, counted for one answer every few seconds.';
comment on column recall.budget is 'Highest number of tokens that the answer was allowed to have.';
comment on column recall.items is 'Number of facts, relations or entities in the answer.';
comment on column recall.dropped is 'Number of items that did not fit the budget.';
comment on column recall.milliseconds is 'Time from the arrival of the call to its answer.';
create index recall_at_idx on recall (space_id, at);
create index recall_actor_idx on recall (actor_id) where actor_id is not null;

create table recalled (
    space_id       integer not null,
    observation_id uuid not null,
    recalls        bigint not null check (recalls > 0),
    last_at        timestamptz not null,
    primary key (space_id, observation_id),
    foreign key (space_id, observation_id) references observation on delete cascade
) with (fillfactor = 80);
comment on table recalled is 'How often a fact was in an answer of query_memory, for all callers together. A fact that never was has no row.';
comment on column recalled.space_id is 'Space of the fact.';
comment on column recalled.observation_id is 'The fact.';
comment on column recalled.recalls is 'Number of recorded answers with the fact.';
comment on column recalled.last_at is 'When the fact was last in an answer.';
