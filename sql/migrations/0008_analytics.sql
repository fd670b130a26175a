-- What analysts ask about: which questions found little, what is never recalled, what waits. Until now
-- recalls told their cost alone; what was asked is kept only where the server's settings say so.

alter table recall
    add column query text check (char_length(query) <= 500),
    add column query_hash text,
    add column hits integer check (hits >= 0),
    add column milliseconds real check (milliseconds >= 0),
    add column score real,
    add column cosine real,
    add column coverage real,
    add column verbose_tokens integer check (verbose_tokens >= 0),
    add column facts uuid[] not null default '{}';
comment on table recall is 'Answers of query_memory, the newest 100,000 of each space and no older than 90 days: what was asked, as far as RECORD_RECALLS lets it be kept, what was found, and what it cost.';
comment on column recall.query is 'The question, or the name that was looked up, its first 500 characters; null: not kept (RECORD_RECALLS=hash), or forgotten with what it was about.';
comment on column recall.query_hash is 'The same for questions that differ only in case and white space: the first 16 hexadecimal digits of a SHA-256. Not a secret to whoever can guess the question.';
comment on column recall.hits is 'Facts that were found, those left out of the answer included.';
comment on column recall.milliseconds is 'From the arrival of the call to its answer.';
comment on column recall.score is 'Score of the best fact, 0 to 1; null: none found, or not a search.';
comment on column recall.cosine is 'Highest cosine of question and fact: the arm of meaning; null without vectors.';
comment on column recall.coverage is 'Largest share of the question''s words that a fact had, by weight: the arm of words.';
comment on column recall.verbose_tokens is 'Tokens of the same answer as verbose text: counted for one answer every few seconds.';
comment on column recall.facts is 'Ids of the facts in the answer that belong to the space of the row, best first.';
create index recall_at_idx on recall (space_id, at);
create index observation_valid_until_idx on observation (space_id, valid_until) where valid_until is not null;

create table recalled (
    space_id       integer not null,
    observation_id uuid not null,
    recalls        bigint not null check (recalls > 0),
    last_at        timestamptz not null,
    primary key (space_id, observation_id),
    foreign key (space_id, observation_id) references observation on delete cascade
) with (fillfactor = 80);
comment on table recalled is 'How often a fact was in an answer of query_memory, whoever asked; facts that never were have no row.';
comment on column recalled.space_id is 'Space of the fact.';
comment on column recalled.observation_id is 'The fact.';
comment on column recalled.recalls is 'Answers that it was in since recalls are recorded.';
comment on column recalled.last_at is 'When it was in one last.';

-- \d+ alone has to suffice: every column says what it holds.
comment on column migration.name is 'Name of the file.';
comment on column migration.applied_at is 'When it was applied.';
comment on column code.singleton is 'Always true: there is one row.';
comment on column code.fingerprint is 'SHA-256 of the files of functions, views and grants.';
comment on column space.id is 'Id of the space, first in every key of its rows.';
comment on column space.created_at is 'When it was made.';
comment on column actor.id is 'Id of the actor.';
comment on column actor.name is 'What it is called; unique.';
comment on column actor.created_at is 'When it was first heard of.';
comment on table actor is 'Somebody who writes: a person, an agent, a service.';
comment on column entity.space_id is 'Its space.';
comment on column entity.id is 'Id of the entity, unique in its space.';
comment on column entity.name is 'The name as it was first written.';
comment on column entity.entity_type is 'person, concept, project, preference, fact, location or organization.';
comment on column entity.description is 'What it is, in a sentence; null: not told.';
comment on column entity.metadata is 'What tools keep with it.';
comment on column entity.created_at is 'When it was first mentioned.';
comment on column observation.space_id is 'Its space.';
comment on column observation.id is 'Id of the fact, unique in its space.';
comment on column observation.entity_id is 'The entity that it is about.';
comment on column observation.content is 'The statement itself, 1 to 2000 characters.';
comment on column observation.source is 'conversation, note, document or manual.';
comment on column observation.confidence is 'How sure its author was, 0 to 1.';
comment on column observation.valid_from is 'From this instant on the fact is valid.';
comment on column observation.author_id is 'Who told it.';
comment on column observation.created_at is 'When it was stored.';
comment on column relation.space_id is 'Its space.';
comment on column relation.id is 'Id of the relation, unique in its space.';
comment on column relation.from_entity is 'The entity that it begins at.';
comment on column relation.to_entity is 'The entity that it leads to.';
comment on column relation.strength is 'How strong the connection is, 0 to 1.';
comment on column relation.valid_from is 'From this instant on the relation is valid.';
comment on column relation.valid_until is 'From this instant on it is not valid; null: still valid.';
comment on column relation.author_id is 'Who told it.';
comment on column relation.client is 'Name and version of the MCP client that wrote it; null from SQL.';
comment on column relation.tool is 'The tool that wrote it; sql from psql.';
comment on column relation.created_at is 'When it was stored.';
comment on column embedding_model.id is 'Number of the model, which its table of vectors is named by.';
comment on column embedding_model.dimensions is 'Numbers that a vector of it has.';
comment on column embedding_model.created_at is 'When it was first used here.';
comment on column embedding_pending.space_id is 'Space of the fact.';
comment on column embedding_pending.observation_id is 'The fact that has no vector yet.';
comment on column embedding_pending.model_id is 'The model that has to make it.';
comment on column embedding_pending.attempts is 'How often that failed.';
comment on column embedding_pending.next_attempt is 'When it is tried again.';
comment on column lexeme.word is 'A stem, as the text index has it.';
comment on column lexeme.frequency is 'Facts that have it.';
comment on column search_statistics.singleton is 'Always true: there is one row.';
comment on column search_statistics.facts is 'How many facts there were.';
comment on column search_statistics.refreshed_at is 'When they were counted.';
comment on column space_statistics.space_id is 'The space.';
comment on column space_statistics.facts is 'How many facts it had.';
comment on column event.space_id is 'Where it was done.';
comment on column event.id is 'Number of the event; higher is later, but for transactions that overlap.';
comment on column event.at is 'When it was done.';
comment on column event.actor_id is 'Who did it.';
comment on column event.client is 'Name and version of the MCP client; null from SQL.';
comment on column event.tool is 'The tool that did it; sql from psql.';
comment on column event.entity_id is 'The entity that it was done to; kept after it is forgotten.';
comment on column event.observation_id is 'The fact that it was done to; null: none, or more than one.';
comment on column event.relation_id is 'The relation that it was done to.';
comment on column space_grant.space_id is 'Where something is granted.';
comment on column space_grant.actor_id is 'Whom it is granted to.';
comment on column space_grant.granted_at is 'Since when it is so.';
comment on column token.id is 'Number of the token.';
comment on column token.actor_id is 'Whose it is, who signs what is written with it.';
comment on column token.scopes is 'The most that it may do: read, write, forget, admin.';
comment on column token.created_at is 'When it was made.';
comment on column token.expires_at is 'When it ends; null: never.';
comment on column token.revoked_at is 'When it was ended before its time; null: it was not.';
comment on column undo.space_id is 'Where it was taken back.';
comment on column undo.id is 'Number of the undo.';
comment on column undo.since is 'From when on the author''s writes were taken back.';
comment on column undo.at is 'When they were taken back.';
comment on column undone.space_id is 'Where it was.';
comment on column undone.undo_id is 'The undo that took it.';
comment on column undone.action is 'What was done to it: remove, hand over, revive, drop entity.';
comment on column undone.kind is 'entity, observation or relation.';
comment on column undone.id is 'Id of what was taken out or changed.';
comment on column word_form.other is 'A stem that means the same.';
comment on column recall.space_id is 'Home of who asked.';
comment on column recall.id is 'Number of the recall.';
comment on column origin.space_id is 'Where it is written.';
comment on column origin.author_id is 'Who writes.';
comment on column origin.client is 'Name and version of the MCP client; null from SQL.';
comment on column origin.tool is 'The tool that writes; sql from psql.';
comment on column origin.request is 'Id of the request, as in the server''s log; null from SQL.';

do $$
declare
    model record;
begin
    for model in select id from embedding_model loop
        execute format('comment on column %I.space_id is %L', 'embedding_' || model.id, 'Space of the fact.');
        execute format('comment on column %I.observation_id is %L', 'embedding_' || model.id, 'The fact.');
        execute format('comment on column %I.vector is %L', 'embedding_' || model.id, 'Its vector, in half precision.');
    end loop;
end
$$;
