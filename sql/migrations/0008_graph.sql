-- Tables of the graph toolset: reflections, and the number of answers that contained an entity or a pair of entities.

create table entity_use (
    space_id  integer not null,
    entity_id uuid not null,
    day       date not null,
    count     integer not null check (count > 0),
    last_at   timestamptz not null check (isfinite(last_at)),
    primary key (space_id, entity_id, day),
    foreign key (space_id, entity_id) references entity on delete cascade
);
comment on table entity_use is 'Number of answers of the graph tools that contained an entity, for each day. The graph tools rank entities by it.';
comment on column entity_use.space_id is 'Space of the entity.';
comment on column entity_use.entity_id is 'The entity.';
comment on column entity_use.day is 'Day in UTC.';
comment on column entity_use.count is 'Number of answers with the entity on that day.';
comment on column entity_use.last_at is 'When the entity was last in an answer on that day.';

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
comment on table joint_use is 'Number of answers of the graph tools that contained both entities.';
comment on column joint_use.space_id is 'Space of both entities.';
comment on column joint_use.one is 'The entity with the smaller id.';
comment on column joint_use.other is 'The other entity.';
comment on column joint_use.count is 'Number of answers with both entities.';
comment on column joint_use.last_at is 'When both entities were last in one answer.';
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
comment on table reflection is 'A thought about an entity, a relation, a session or the whole memory. It is prose and not a fact.';
comment on column reflection.space_id is 'Space of the reflection.';
comment on column reflection.id is 'Id of the reflection, unique in its space.';
comment on column reflection.target_type is 'What the reflection is about: entity, session, relation or global.';
comment on column reflection.entity_id is 'Entity that the reflection is about.';
comment on column reflection.relation_id is 'Relation that the reflection is about.';
comment on column reflection.content is 'Text of the reflection, 1 to 10000 characters.';
comment on column reflection.voice is 'Name of the speaker, as the caller gave it. It can differ from the author and does not prove who wrote the reflection.';
comment on column reflection.mood is 'Mood of the reflection, such as insight. Null: not given.';
comment on column reflection.author_id is 'Actor who wrote the reflection.';
comment on column reflection.client is 'Name and version of the MCP client that wrote the reflection. Null: the reflection was written from SQL.';
comment on column reflection.tool is 'Tool that wrote the reflection. sql: the reflection was written from psql.';
comment on column reflection.request is 'Id of the request that wrote the reflection, as in the log of the server. Null: the reflection was written from SQL.';
comment on column reflection.created_at is 'When the reflection was stored.';
comment on column reflection.fts is 'Stems of the words of the reflection.';
comment on column reflection.model_id is 'Model of the vector. Null: there is no vector.';
comment on column reflection.vector is 'Vector of the model model_id. Null: no model was active when the reflection was written.';
create index reflection_entity_idx on reflection (space_id, entity_id) where entity_id is not null;
create index reflection_relation_idx on reflection (space_id, relation_id) where relation_id is not null;
create index reflection_fts_idx on reflection using gin (fts) with (fastupdate = off);
