-- The trail of events. For each undo: the undone events, and the rows that a revert restores. Recalls: one row for each
-- answer, with the query if TEXTRAWL_RECORD_RECALLS allows it. The rows show the queries of the callers and the tokens
-- that the answers cost.

create table event (
    space_id       integer not null references space,
    id             bigint generated always as identity,
    at             timestamptz not null default now(),
    actor_id       integer not null references actor,
    client         text,
    tool           text not null,
    request        text,
    action         text not null,
    entity_id      uuid,
    observation_id uuid,
    relation_id    uuid,
    detail         jsonb not null default '{}',
    transaction    xid8 not null default pg_current_xact_id(),
    primary key (space_id, id)
);
comment on table event is 'Append-only trail of all writes: who did what, when, with which client and tool. It contains no text of facts.';
comment on column event.space_id is 'Space of the event.';
comment on column event.id is 'Number of the event. A later event has a higher number, except for events of transactions that overlapped.';
comment on column event.at is 'When the event happened.';
comment on column event.actor_id is 'Actor who caused the event.';
comment on column event.client is 'Name and version of the MCP client. Null: the event was caused from SQL.';
comment on column event.tool is 'Tool that caused the event. sql: the event was caused from psql.';
comment on column event.request is 'Id of the request, as in the log of the server. Null: the event was caused from SQL.';
comment on column event.action is 'Action on an entity: created, retyped, described (values of its node changed). On a fact: remembered, repeated (the same text again, perhaps by another author), updated (the same text with another source, confidence, end or said_at), replaced, moved (to another entity), ended (its node was deleted). On a relation: related, ended, described (values of its edge changed). On a document: written, deleted, outvoted (the text lost a conflict), erased (with all versions). On an entity and its names: named (it got an alias), unnamed, merged (another entity was merged into it), split. On a proposal: proposed, accepted, rejected, expired. Other actions: reflected, faded, forgotten, undone, restored, imported.';
comment on column event.entity_id is 'Entity of the event. The id is kept after the entity is forgotten.';
comment on column event.observation_id is 'Fact of the event. Null: the event is about no fact, or about several facts.';
comment on column event.relation_id is 'Relation of the event.';
comment on column event.detail is 'Counts, ids and values of the action, such as the values before and after an update. Never the text of a fact.';
comment on column event.transaction is 'Transaction of the event. Followers of the trail read in the order of transaction and id, because events do not become visible in the order of their ids.';
create index event_entity_idx on event (space_id, entity_id);
create index event_observation_idx on event (space_id, observation_id) where observation_id is not null;
create index event_relation_idx on event (space_id, relation_id) where relation_id is not null;
create index event_replaced_idx on event (space_id, (detail ->> 'replaced')) where detail ? 'replaced';
create index event_actor_idx on event (space_id, actor_id, at);
create index event_feed_idx on event (space_id, transaction, id);
create index event_document_idx on event (space_id, (detail ->> 'document')) where detail ? 'document';
-- The state of a proposal follows from its events.
create index event_proposal_idx on event (space_id, (detail ->> 'proposal')) where detail ? 'proposal';
create index event_accepted_idx on event (space_id, at) where action = 'accepted';
-- An undo finds all events of an alias or a merge.
create index event_alias_idx on event (space_id, (detail ->> 'alias')) where detail ? 'alias';
create index event_merge_idx on event (space_id, (detail ->> 'merge')) where detail ? 'merge';

-- Triggers and their functions belong to the table. They stay when a migration rebuilds the other functions.
create function keep_events() returns trigger
language plpgsql
set search_path from current
as $$
begin
    -- settle_events() sets the transaction to 0 if the event was restored from another cluster. The transaction numbers
    -- of that cluster have no meaning here.
    if tg_op = 'UPDATE' and to_jsonb(new) = to_jsonb(old) || '{"transaction": "0"}' then
        return new;
    end if;
    raise exception 'the trail is append-only' using errcode = 'object_not_in_prerequisite_state';
end
$$;

comment on function keep_events is 'Raise an error if somebody changes or deletes an event. This applies also to the owner of the memory.';

create trigger event_is_kept before update or delete on event
for each row execute function keep_events();
create trigger events_are_kept before truncate on event
for each statement execute function keep_events();

create table undo (
    space_id    integer not null references space,
    id          bigint generated always as identity,
    author_id   integer not null references actor,
    actor_id    integer not null references actor,
    since       timestamptz not null check (isfinite(since)),
    at          timestamptz not null default now(),
    events      bigint[] not null,
    reverted_at timestamptz,
    purged_at   timestamptz,
    moved_to    integer,
    joint       bigint,
    primary key (space_id, id)
);
comment on table undo is 'An undo of the writes of one author in one space.';
comment on column undo.space_id is 'Space of the undo.';
comment on column undo.id is 'Number of the undo.';
comment on column undo.author_id is 'Author whose writes were undone.';
comment on column undo.actor_id is 'Actor who started the undo.';
comment on column undo.since is 'Writes from this instant on were undone.';
comment on column undo.at is 'When the writes were undone.';
comment on column undo.events is 'Ids of the events that the undo excludes. Later undos ignore these events, until a revert.';
comment on column undo.reverted_at is 'When the undo was reverted. Null: the undo was not reverted.';
comment on column undo.purged_at is 'When the undone content was deleted permanently. Null: the content is kept.';
comment on column undo.moved_to is 'For a move: the space to which the rows went. The undo then holds what the move took away, and no events. Null: an undo.';
comment on column undo.joint is 'Number of one undo of the call, if the call returned rows of moves. Such undos are reverted together. Null: the undo is reverted alone.';
create index undo_joint_idx on undo (joint) where joint is not null;

create table undone (
    space_id integer not null,
    undo_id  bigint not null,
    action   text not null check (action in
             ('remove', 'hand over', 'revive', 'reset', 'drop entity', 'move back', 'retype', 'return')),
    kind     text not null check (kind in ('entity', 'observation', 'relation', 'reflection', 'document', 'proposal', 'alias', 'merge')),
    id       uuid not null,
    names    text[] not null,
    entities jsonb not null default '[]',
    before   jsonb not null,
    after    jsonb,
    primary key (space_id, undo_id, id, action),
    foreign key (space_id, undo_id) references undo on delete cascade
);
comment on table undone is 'Rows that an undo removed or changed. They are kept until the undo is purged or their entity is forgotten.';
comment on column undone.space_id is 'Space of the row.';
comment on column undone.undo_id is 'The undo.';
comment on column undone.action is 'What the undo did to the row. remove: the row was removed, or the merge was split. hand over: another author of the same fact became the author of the fact. revive: the row is valid again, or the entities are merged again. reset: the row has its former source, confidence, end and said_at again, the node or edge its former values, the document its former text, or the proposal its former decision. drop entity: the entity was removed. move back: the fact belongs to its former entity again. retype: the entity has its former type again. return: a move to another space had taken the row away, and the undo returned it.';
comment on column undone.kind is 'entity, observation, relation, reflection, document, proposal, alias or merge.';
comment on column undone.id is 'Id of the row.';
comment on column undone.names is 'name_key(name) of each entity that the row is about.';
comment on column undone.entities is 'For remove, move back and drop entity: the entities in names, as they were before the undo. For other actions: empty.';
comment on column undone.before is 'The removed row, or the former values of the changed columns.';
comment on column undone.after is 'Values of the changed columns after the undo. Null: the row was removed.';
create index undone_id_idx on undone (space_id, id);
create index undone_names_idx on undone using gin (names);
create index undone_copy_idx on undone ((after ->> 'copy')) where after ? 'copy';

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
