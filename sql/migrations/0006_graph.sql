-- Tables of the toolsets graph and mind: reflections, the number of answers that contained an entity or a pair of
-- entities, the values of nodes and edges that entities and relations do not have, and their changes.

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

create table graph_node (
    space_id          integer not null,
    entity_id         uuid not null,
    label             text check (char_length(label) between 1 and 200),
    label_key         text check ((label_key is null) = (label is null)),
    description_id    uuid,
    confidence        real check (confidence between 0 and 1),
    properties        jsonb check (jsonb_typeof(properties) = 'object'),
    instance          text check (char_length(instance) between 1 and 200),
    memory            text check (char_length(memory) between 1 and 200),
    first_learned_at  timestamptz check (isfinite(first_learned_at)),
    last_confirmed_at timestamptz check (isfinite(last_confirmed_at)),
    version           integer not null default 1 check (version > 0),
    deleted_at        timestamptz check (isfinite(deleted_at)),
    primary key (space_id, entity_id),
    foreign key (space_id, entity_id) references entity on delete cascade,
    foreign key (space_id, description_id) references observation on delete set null (description_id)
) with (fillfactor = 85);
comment on table graph_node is 'The values of a node that its entity does not have. An entity without a row is a node with the default values of node_states(). The type of a node is the free type of its entity.';
comment on column graph_node.space_id is 'Space of the entity.';
comment on column graph_node.entity_id is 'The entity. Its id is the id of the node.';
comment on column graph_node.label is 'Label of the node, if it differs from the name of the entity: because an entity of another type has this name already, or because the label was changed. Null: the name of the entity.';
comment on column graph_node.label_key is 'name_key(label).';
comment on column graph_node.description_id is 'Fact of the entity that describes the node. If the fact was replaced, its successor describes the node.';
comment on column graph_node.confidence is 'Confidence in the node, from 0 to 1. Null: 0.5.';
comment on column graph_node.properties is 'Further data of the caller. Null: none.';
comment on column graph_node.instance is 'Instance that created the node or changed it last, according to the caller.';
comment on column graph_node.memory is 'Source from which the node was learned, such as a journal entry, according to the caller.';
comment on column graph_node.first_learned_at is 'When the node was first learned. Null: when the entity was created.';
comment on column graph_node.last_confirmed_at is 'When the node was last confirmed. Null: never.';
comment on column graph_node.version is 'Number of the version. An update adds one.';
comment on column graph_node.deleted_at is 'When the node was deleted. Its facts and relations ended then. Null: the node was not deleted.';
create index graph_node_label_idx on graph_node (space_id, label_key) where label_key is not null;
create index graph_node_description_idx on graph_node (space_id, description_id) where description_id is not null;
create index graph_node_deleted_idx on graph_node (space_id, deleted_at) where deleted_at is not null;

create table graph_edge (
    space_id          integer not null,
    relation_id       uuid not null,
    evidence          text check (char_length(evidence) between 1 and 2000),
    properties        jsonb check (jsonb_typeof(properties) = 'object'),
    instance          text check (char_length(instance) between 1 and 200),
    occurred_at       timestamptz check (isfinite(occurred_at)),
    last_confirmed_at timestamptz check (isfinite(last_confirmed_at)),
    version           integer not null default 1 check (version > 0),
    deleted_at        timestamptz check (isfinite(deleted_at)),
    primary key (space_id, relation_id),
    foreign key (space_id, relation_id) references relation on delete cascade
) with (fillfactor = 85);
comment on table graph_edge is 'The values of an edge that its relation does not have. A relation without a row is an edge with the default values of edge_states(). The weight of an edge is the strength of its relation.';
comment on column graph_edge.space_id is 'Space of the relation.';
comment on column graph_edge.relation_id is 'The relation. Its id is the id of the edge.';
comment on column graph_edge.evidence is 'Text that supports the edge, 1 to 2000 characters. Null: none.';
comment on column graph_edge.properties is 'Further data of the caller. Null: none.';
comment on column graph_edge.instance is 'Instance that created the edge or changed it last, according to the caller.';
comment on column graph_edge.occurred_at is 'When the event that the edge describes occurred. Null: not given.';
comment on column graph_edge.last_confirmed_at is 'When the edge was last confirmed. Null: never.';
comment on column graph_edge.version is 'Number of the version. An update adds one.';
comment on column graph_edge.deleted_at is 'When the edge was deleted. Its relation ended then. Null: the edge was not deleted.';

create table graph_change (
    space_id    integer not null,
    event_id    bigint not null,
    entity_id   uuid,
    relation_id uuid,
    before      jsonb not null,
    after       jsonb not null,
    primary key (space_id, event_id),
    foreign key (space_id, entity_id) references entity on delete cascade,
    foreign key (space_id, relation_id) references relation on delete cascade,
    check (num_nonnulls(entity_id, relation_id) = 1)
);
comment on table graph_change is 'The values that an event of the trail changed in a node or an edge, for undo. Events do not hold content, so the values are in this table. They are deleted with the entity or the relation.';
comment on column graph_change.space_id is 'Space of the event.';
comment on column graph_change.event_id is 'The event. Its action is `described`.';
comment on column graph_change.entity_id is 'Entity of the node. Null: an edge changed.';
comment on column graph_change.relation_id is 'Relation of the edge. Null: a node changed.';
comment on column graph_change.before is 'The values before the event, by column. Columns that did not change are left out.';
comment on column graph_change.after is 'The values after the event, by column.';
create index graph_change_entity_idx on graph_change (space_id, entity_id) where entity_id is not null;
create index graph_change_relation_idx on graph_change (space_id, relation_id) where relation_id is not null;
