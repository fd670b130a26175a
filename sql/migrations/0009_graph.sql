-- The graph toolset: relations as they were spelt, what was looked at when and together, reflections.

alter table relation add column label text check (char_length(label) between 1 and 100);
comment on column relation.label is 'relation_type as it was given, where it was spelt otherwise, such as worksAt.';
comment on column entity.metadata is 'type: the type as it was given, where it is none of the seven, such as Proyecto.';
create index entity_created_at_idx on entity (space_id, created_at, id);

create table entity_use (
    space_id  integer not null,
    entity_id uuid not null,
    day       date not null,
    count     integer not null check (count > 0),
    last_at   timestamptz not null check (isfinite(last_at)),
    primary key (space_id, entity_id, day),
    foreign key (space_id, entity_id) references entity on delete cascade
);
comment on table entity_use is 'How often the graph tools answered with an entity, day by day: what they rank by.';
comment on column entity_use.space_id is 'Space of the entity.';
comment on column entity_use.entity_id is 'The entity.';
comment on column entity_use.day is 'The day, UTC.';
comment on column entity_use.count is 'Answers that it was in on that day.';
comment on column entity_use.last_at is 'When it was in one last.';

create table joint_use (
    space_id integer not null,
    one      uuid not null,
    other    uuid not null check (one < other),
    count    integer not null check (count > 0),
    last_at  timestamptz not null check (isfinite(last_at)),
    primary key (space_id, one, other),
    foreign key (space_id, one) references entity on delete cascade,
    foreign key (space_id, other) references entity on delete cascade
);
comment on table joint_use is 'How often one answer of the graph tools held both entities.';
comment on column joint_use.space_id is 'Space of both.';
comment on column joint_use.one is 'The entity whose id is the smaller.';
comment on column joint_use.other is 'The other entity.';
comment on column joint_use.count is 'Answers that both were in.';
comment on column joint_use.last_at is 'When they were last.';
create index joint_use_other_idx on joint_use (space_id, other);

create table reflection (
    space_id    integer not null references space,
    id          uuid not null default gen_random_uuid(),
    target_type text not null check (target_type in ('entity', 'session', 'relation', 'global')),
    entity_id   uuid check ((entity_id is not null) = (target_type = 'entity')),
    relation_id uuid check ((relation_id is not null) = (target_type = 'relation')),
    content     text not null check (char_length(content) between 1 and 10000),
    voice       text not null check (char_length(voice) between 1 and 200),
    mood        text check (char_length(mood) between 1 and 100),
    author_id   integer not null references actor,
    client      text,
    tool        text not null,
    request     text,
    created_at  timestamptz not null default clock_timestamp() check (isfinite(created_at)),
    fts         tsvector not null,
    model_id    integer references embedding_model on delete set null,
    vector      halfvec,
    primary key (space_id, id),
    foreign key (space_id, entity_id) references entity on delete cascade,
    foreign key (space_id, relation_id) references relation on delete cascade
);
comment on table reflection is 'What somebody thinks about an entity, a relation, a session or everything: prose beside the facts.';
comment on column reflection.space_id is 'Its space.';
comment on column reflection.id is 'Id of the reflection, unique in its space.';
comment on column reflection.target_type is 'entity, session, relation or global: what it is about.';
comment on column reflection.entity_id is 'The entity that it is about.';
comment on column reflection.relation_id is 'The relation that it is about.';
comment on column reflection.content is 'The prose, 1 to 10000 characters.';
comment on column reflection.mood is 'How it was meant, such as insight; null: not told.';
comment on column reflection.author_id is 'Who wrote it down.';
comment on column reflection.client is 'Name and version of the MCP client that wrote it; null from SQL.';
comment on column reflection.tool is 'The tool that wrote it; sql from psql.';
comment on column reflection.request is 'Id of the request that stored it, as in the server''s log; null from SQL.';
comment on column reflection.created_at is 'When it was stored.';
comment on column reflection.fts is 'Its words, stemmed.';
comment on column reflection.model_id is 'The model that made its vector; null: none did.';
comment on column reflection.voice is 'Who speaks, as they call themselves; author_id is who wrote it down.';
comment on column reflection.vector is 'Of the model model_id, if there was one when it was written.';
create index reflection_entity_idx on reflection (space_id, entity_id) where entity_id is not null;
create index reflection_relation_idx on reflection (space_id, relation_id) where relation_id is not null;
create index reflection_fts_idx on reflection using gin (fts) with (fastupdate = off);

comment on column event.action is 'created (an entity), retyped, remembered, repeated (said again, perhaps by another), replaced, related, ended (a relation), moved (a fact to another entity), reflected, forgotten, undone, restored, imported.';
