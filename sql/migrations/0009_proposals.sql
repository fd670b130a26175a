-- Review: writes that wait for the decision of a reviewer.

create table proposal (
    space_id       integer not null references space,
    id             uuid not null default gen_random_uuid(),
    kind           text not null check (kind in ('fact', 'relation')),
    entity_name    text not null check (char_length(entity_name) between 1 and 200),
    entity_key     text not null,
    entity_type    text,
    content        text check (char_length(content) between 1 and 2000),
    content_hash   uuid not null,
    given_hash     uuid not null,
    relation_type  text check (char_length(relation_type) between 1 and 100),
    to_name        text check (char_length(to_name) between 1 and 200),
    to_key         text,
    to_type        text,
    source         text check (source in ('conversation', 'note', 'document', 'manual')),
    confidence     real check (confidence between 0 and 1),
    valid_until    timestamptz check (isfinite(valid_until)),
    said_at        timestamptz check (isfinite(said_at)),
    replaces       text,
    replaces_edges boolean not null default false,
    model_id       integer references embedding_model on delete set null,
    vector         halfvec,
    fts            tsvector not null,
    author_id      integer not null references actor,
    client         text,
    tool           text not null,
    request        text,
    created_at     timestamptz not null default clock_timestamp(),
    decision       text check (decision in ('accepted', 'rejected', 'withdrawn')),
    decided_at     timestamptz,
    decided_by     integer references actor,
    reason         text check (char_length(reason) between 1 and 500),
    observation_id uuid,
    relation_id    uuid,
    primary key (space_id, id),
    check ((kind = 'fact') = (content is not null)),
    check ((kind = 'relation') = (relation_type is not null and to_name is not null and to_key is not null)),
    check ((decision is null) = (decided_at is null))
);
comment on table proposal is 'A fact or a relation that waits for the decision of a reviewer, or was decided. Nothing that reads facts reads this table. Only its author and reviewers see a proposal.';
comment on column proposal.space_id is 'Space to which the proposal belongs.';
comment on column proposal.id is 'Id of the proposal, unique in its space.';
comment on column proposal.kind is 'fact or relation.';
comment on column proposal.entity_name is 'Name of the entity that the fact is about, or that the relation starts at. The entity does not have to exist.';
comment on column proposal.entity_key is 'name_key(entity_name).';
comment on column proposal.entity_type is 'Type of the entity, as the author gave it. Null: not given.';
comment on column proposal.content is 'Text of the fact. Null: the proposal is a relation.';
comment on column proposal.content_hash is 'fact_hash() of the fact, or of the words of the relation.';
comment on column proposal.given_hash is 'md5 of content_hash and of all other values that were given. The same proposal is stored once.';
comment on column proposal.relation_type is 'Type of the relation, as the author gave it. Null: the proposal is a fact.';
comment on column proposal.to_name is 'Name of the entity that the relation leads to.';
comment on column proposal.to_key is 'name_key(to_name).';
comment on column proposal.to_type is 'Type of the entity that the relation leads to. Null: not given.';
comment on column proposal.source is 'Source of the fact. Null: not given.';
comment on column proposal.confidence is 'Confidence of the author in the fact, from 0 to 1. Null: not given.';
comment on column proposal.valid_until is 'The fact is not valid from this instant on. Null: not given.';
comment on column proposal.said_at is 'When the fact was said. Null: not given.';
comment on column proposal.replaces is 'Fact that the new fact replaces: an id, the start of an id, or the text. Null: it replaces no fact.';
comment on column proposal.replaces_edges is 'True: the relation ends the other relations of its type that start at the same entity.';
comment on column proposal.model_id is 'Embedding model of the vector.';
comment on column proposal.vector is 'Vector of the fact or of the statement. Null: not computed.';
comment on column proposal.fts is 'Words by which the author finds the proposal: search_document().';
comment on column proposal.author_id is 'Actor who proposed.';
comment on column proposal.client is 'Name and version of the MCP client. Null: it was proposed from SQL.';
comment on column proposal.tool is 'Tool with which it was proposed. sql: from psql.';
comment on column proposal.request is 'Id of the request, as in the log of the server. Null: it was proposed from SQL.';
comment on column proposal.created_at is 'When it was proposed.';
comment on column proposal.decision is 'accepted, rejected or withdrawn (an undo took back what the author proposed). Null: pending.';
comment on column proposal.decided_at is 'When it was decided. Null: pending.';
comment on column proposal.decided_by is 'Actor who accepted or rejected it.';
comment on column proposal.reason is 'Why it was rejected, for its author. It counts only if the decision is rejected.';
comment on column proposal.observation_id is 'The fact that it became, or that had the same text already. Null: not an accepted fact.';
comment on column proposal.relation_id is 'The relation that it became, or that existed already. Null: not an accepted relation.';
-- An author has one pending proposal with a text.
create unique index proposal_text_idx on proposal (space_id, author_id, kind, entity_key, given_hash) where decision is null;
create index proposal_author_idx on proposal (space_id, author_id, created_at);
create index proposal_pending_idx on proposal (space_id, created_at, id) where decision is null;
create index proposal_entity_idx on proposal (space_id, entity_key);
create index proposal_to_idx on proposal (space_id, to_key) where to_key is not null;
create index proposal_observation_idx on proposal (space_id, observation_id) where observation_id is not null;
create index proposal_relation_idx on proposal (space_id, relation_id) where relation_id is not null;

-- The policies of three tables call this function, so it belongs to the tables, like session_spaces().
create function session_reviews() returns integer[]
language plpgsql stable parallel safe security definer set search_path from current
as 'begin return reviewed_spaces(); end';

comment on function session_reviews is
    'The spaces whose proposals this session can see, for row-level security: the spaces in which its login has the '
    'scopes read and review, or all spaces for the owner.';
