-- Summaries of entities with many facts, which an LLM writes and which quote the facts.

create table summary (
    space_id   integer not null,
    entity_id  uuid not null,
    facts_hash uuid,
    llm        text check (char_length(llm) between 1 and 200),
    author_id  integer references actor,
    made_at    timestamptz,
    due_at     timestamptz,
    attempts   integer not null default 0 check (attempts >= 0),
    primary key (space_id, entity_id),
    foreign key (space_id, entity_id) references entity on delete cascade
);
comment on table summary is 'The summary of an entity with many facts, or the wish for one. Its text is in summary_clause.';
comment on column summary.space_id is 'Space of the entity.';
comment on column summary.entity_id is 'The entity.';
comment on column summary.facts_hash is 'summarized_facts() of the facts that the LLM read. If it differs from that of the valid facts, the summary is stale. Null: no summary was made yet.';
comment on column summary.llm is 'Provider and model of the LLM that wrote it. Null: no summary was made yet.';
comment on column summary.author_id is 'Actor of the server that asked the LLM. Null: no summary was made yet.';
comment on column summary.made_at is 'When it was made. Null: no summary was made yet.';
comment on column summary.due_at is 'From this instant on, a server makes the summary anew. Null: it is not due.';
comment on column summary.attempts is 'Number of attempts since it became due, including an attempt that runs now.';
create index summary_due_idx on summary (space_id, due_at) where due_at is not null;

create table summary_clause (
    space_id       integer not null,
    entity_id      uuid not null,
    place          integer not null check (place > 0),
    content        text not null check (char_length(content) between 1 and 500),
    observation_id uuid not null,
    primary key (space_id, entity_id, place),
    foreign key (space_id, entity_id) references summary on delete cascade,
    foreign key (space_id, observation_id) references observation on delete cascade
);
comment on table summary_clause is 'A clause of a summary with the fact that it quotes. It is deleted with the fact, and hidden while the fact is not valid.';
comment on column summary_clause.space_id is 'Space of the entity.';
comment on column summary_clause.entity_id is 'The entity.';
comment on column summary_clause.place is 'Place of the clause in the summary, from 1.';
comment on column summary_clause.content is 'Text of the clause, 1 to 500 characters.';
comment on column summary_clause.observation_id is 'The fact that says it.';
create index summary_clause_observation_idx on summary_clause (space_id, observation_id);
