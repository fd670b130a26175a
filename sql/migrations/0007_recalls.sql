-- Recalls: one row for each answer, with the query if TEXTRAWL_RECORD_RECALLS allows it. The rows show the queries of
-- the callers and the tokens that the answers cost.

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
comment on table recall is 'Answers of query_memory and of the graph tools that read: the newest 100,000 of each space, at most 90 days old. TEXTRAWL_RECORD_RECALLS decides whether the text of the query is kept.';
comment on column recall.space_id is 'Home space of the caller.';
comment on column recall.id is 'Number of the recall.';
comment on column recall.at is 'When the answer was sent. The row is written seconds later.';
comment on column recall.actor_id is 'Actor who sent the query. Null: the session had no token.';
comment on column recall.client is 'Name and version of the MCP client. Null: the client sent no name.';
comment on column recall.mode is 'Kind of the query: search, entity or list.';
comment on column recall.query is 'First 500 characters of the query or of the entity name. Null: not kept because of TEXTRAWL_RECORD_RECALLS=hash, or removed because a fact or the entity was forgotten.';
comment on column recall.query_hash is 'First 16 hexadecimal digits of the SHA-256 of the query. Queries that differ only in case and white space have the same hash. It does not hide a query that somebody can guess.';
comment on column recall.hits is 'Number of facts that were found, including facts that did not fit into the answer.';
comment on column recall.score is 'Score of the best fact, from 0 to 1. Null: no fact was found, or the call was not a search.';
comment on column recall.cosine is 'Highest cosine of the query and a fact. Null: no vectors were compared.';
comment on column recall.coverage is 'Highest coverage of the facts: the weighted share of the query''s words that a fact has.';
comment on column recall.facts is 'Ids of the facts in the answer that belong to the space of this row, best first.';
comment on column recall.format is 'Format of the text: compact, lines or verbose.';
comment on column recall.structured is 'True: the answer had structured content beside the text.';
comment on column recall.tokens is 'Tokens that count against the budget: text and structured content together. For the graph tools: the larger of the two.';
comment on column recall.verbose_tokens is 'Tokens of the same answer as verbose text. Null: not counted, because only one answer every few seconds is counted.';
comment on column recall.budget is 'Largest number of tokens that the answer may cost.';
comment on column recall.items is 'Number of facts, relations or entities in the answer.';
comment on column recall.dropped is 'Number of items that did not fit into the budget.';
comment on column recall.milliseconds is 'Time in milliseconds from the arrival of the call to its answer.';
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
comment on table recalled is 'Number of answers of query_memory that contained a fact, for all callers together. A fact without a row was in no answer.';
comment on column recalled.space_id is 'Space of the fact.';
comment on column recalled.observation_id is 'The fact.';
comment on column recalled.recalls is 'Number of recorded answers that contained the fact.';
comment on column recalled.last_at is 'When the fact was last in an answer.';
