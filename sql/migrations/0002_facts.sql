-- Entities, the facts about them (observations) and the relations between them.

create table entity (
    space_id     integer not null references space,
    id           uuid not null default gen_random_uuid(),
    name         text not null check (char_length(name) between 1 and 200),
    name_key     text not null,
    entity_type  text not null check (entity_type in
                 ('person', 'concept', 'project', 'preference', 'fact', 'location', 'organization')),
    type_guessed boolean not null default false,
    description  text,
    metadata     jsonb not null default '{}',
    created_at   timestamptz not null default now(),
    updated_at   timestamptz not null default now(),
    fts          tsvector not null,
    primary key (space_id, id),
    unique (space_id, name_key)
) with (fillfactor = 85);
comment on table entity is 'A thing that facts are about. Each name has one entity per space.';
comment on column entity.space_id is 'Space of the entity.';
comment on column entity.id is 'Id of the entity, unique in its space.';
comment on column entity.name is 'Name as it was first written.';
comment on column entity.name_key is 'name_key(name), the form in which names are compared. Unique in the space.';
comment on column entity.entity_type is 'person, concept, project, preference, fact, location or organization.';
comment on column entity.type_guessed is 'True: no caller has given a type yet. The first type that a caller gives replaces the guess.';
comment on column entity.description is 'A description in one sentence. Null: none was given.';
comment on column entity.metadata is 'Two optional keys. type: the type as it was given, if it is not one of the seven, such as Proyecto. retyped: former types with the event of each change, oldest first.';
comment on column entity.created_at is 'When the entity was created.';
comment on column entity.updated_at is 'When a fact or relation of the entity was last added, changed or removed.';
comment on column entity.fts is 'Words of the name. They find similar names for a wrong name.';
create index entity_updated_at_idx on entity (space_id, updated_at desc, id);
create index entity_created_at_idx on entity (space_id, created_at, id);
create index entity_name_prefix_idx on entity (space_id, name_key text_pattern_ops);
create index entity_fts_idx on entity using gin (fts) with (fastupdate = off);

create table observation (
    space_id     integer not null,
    id           uuid not null default gen_random_uuid(),
    entity_id    uuid not null,
    entity_type  text not null,
    content      text not null check (char_length(content) between 1 and 2000),
    content_hash uuid not null,
    whole        uuid,
    part         smallint,
    source       text not null check (source in ('conversation', 'note', 'document', 'manual')),
    confidence   real not null default 1 check (confidence between 0 and 1),
    valid_from   timestamptz not null default now() check (isfinite(valid_from)),
    valid_until  timestamptz check (isfinite(valid_until)),
    replaced_by  uuid,
    author_id    integer not null references actor,
    client       text,
    tool         text not null,
    request      text,
    created_at   timestamptz not null default now() check (isfinite(created_at)),
    ordinal      bigint not null,
    fts          tsvector not null,
    primary key (space_id, id),
    foreign key (space_id, entity_id) references entity on delete cascade,
    foreign key (space_id, replaced_by) references observation on delete set null (replaced_by),
    check ((whole is null) = (part is null) and part > 0)
) with (fillfactor = 85);
comment on table observation is 'A fact: one atomic statement about an entity. Its text is never edited. A new fact replaces an old one.';
comment on column observation.space_id is 'Space of the fact.';
comment on column observation.id is 'Id of the fact, unique in its space.';
comment on column observation.entity_id is 'Entity that the fact is about.';
comment on column observation.entity_type is 'Type of the entity, copied here so that filters need no join.';
comment on column observation.content is 'Text of the fact, 1 to 2000 characters.';
comment on column observation.content_hash is 'md5 of fact_key(content). Texts that differ only in case, white space or a final full stop have the same hash.';
comment on column observation.whole is 'md5 of the long text that this fact is a part of. The graph tools split texts that are too long for one fact. Null: the fact is not a part.';
comment on column observation.part is 'Number of the part, from 1. The parts of one entity with the same whole, joined in this order, are the long text.';
comment on column observation.source is 'conversation, note, document or manual.';
comment on column observation.confidence is 'How sure the author was, 0 to 1.';
comment on column observation.valid_from is 'The fact is valid from this instant on.';
comment on column observation.valid_until is 'The fact is not valid from this instant on. Null: still valid.';
comment on column observation.replaced_by is 'The newer fact that replaced this one.';
comment on column observation.author_id is 'Actor who wrote the fact.';
comment on column observation.client is 'Name and version of the MCP client that wrote it. Null: written from SQL.';
comment on column observation.tool is 'Tool that wrote it. sql: written from psql.';
comment on column observation.request is 'Id of the request that wrote it, as in the log of the server. Null: written from SQL.';
comment on column observation.created_at is 'When the fact was stored.';
comment on column observation.ordinal is 'Number of the fact in its space, in the order of storing. Two writers at once may use the same number. Search treats neighbours as parts of one conversation.';
comment on column observation.fts is 'search_document(space_id, name of the entity, content). Contains the space as the lexeme ~s<space_id>.';
create index observation_entity_idx on observation (space_id, entity_id, content_hash);
create index observation_replaced_by_idx on observation (space_id, replaced_by) where replaced_by is not null;
create index observation_valid_until_idx on observation (space_id, valid_until) where valid_until is not null;
create index observation_fts_idx on observation using gin (fts) with (fastupdate = off);
-- Search compares facts of a rare type one by one. The vector index would skip nearly all other facts.
create index observation_type_idx on observation (space_id, entity_type);
-- If a tenth of all facts contains a word, search reads only the newest of them.
create index observation_ordinal_idx on observation (space_id, ordinal);

-- Triggers and their functions belong to the table. They stay when a migration rebuilds the other functions.
create function number_fact() returns trigger
language plpgsql
set search_path from current
as $$
begin
    -- No lock: two writers at once may take the same number. Their facts then count as neighbours.
    new.ordinal := coalesce((select max(o.ordinal) from observation o where o.space_id = new.space_id), 0) + 1;
    return new;
end
$$;

comment on function number_fact is 'Gives a fact the next number in its space.';

create trigger fact_is_numbered before insert on observation
for each row when (new.ordinal is null) execute function number_fact();

create table relation (
    space_id      integer not null,
    id            uuid not null default gen_random_uuid(),
    from_entity   uuid not null,
    relation_type text not null check (char_length(relation_type) between 1 and 100),
    label         text check (char_length(label) between 1 and 100),
    to_entity     uuid not null,
    strength      real not null default 1 check (strength between 0 and 1),
    valid_from    timestamptz not null default now() check (isfinite(valid_from)),
    valid_until   timestamptz check (isfinite(valid_until)),
    author_id     integer not null references actor,
    client        text,
    tool          text not null,
    request       text,
    created_at    timestamptz not null default now(),
    primary key (space_id, id),
    foreign key (space_id, from_entity) references entity on delete cascade,
    foreign key (space_id, to_entity) references entity on delete cascade
);
comment on table relation is 'A directed and named connection of two entities.';
comment on column relation.space_id is 'Space of the relation.';
comment on column relation.id is 'Id of the relation, unique in its space.';
comment on column relation.from_entity is 'Entity that the relation starts at.';
comment on column relation.relation_type is 'Type in lower case with _ instead of white space, such as works_at.';
comment on column relation.label is 'Type as it was given, such as worksAt. Null: it was given in the form of relation_type.';
comment on column relation.to_entity is 'Entity that the relation leads to. The graph tools may relate an entity to itself.';
comment on column relation.strength is 'Strength of the connection, 0 to 1.';
comment on column relation.valid_from is 'The relation is valid from this instant on.';
comment on column relation.valid_until is 'The relation is not valid from this instant on. Null: still valid.';
comment on column relation.author_id is 'Actor who wrote the relation.';
comment on column relation.client is 'Name and version of the MCP client that wrote it. Null: written from SQL.';
comment on column relation.tool is 'Tool that wrote it. sql: written from psql.';
comment on column relation.request is 'Id of the request that wrote it, as in the log of the server. Null: written from SQL.';
comment on column relation.created_at is 'When the relation was stored.';
create unique index relation_live_idx on relation (space_id, from_entity, relation_type, to_entity) where valid_until is null;
create index relation_from_entity_idx on relation (space_id, from_entity);
create index relation_to_entity_idx on relation (space_id, to_entity);

create type new_fact as (
    id uuid, entity_id uuid, entity_name text, entity_type text, content text, content_hash uuid,
    source text, confidence real, valid_until timestamptz, replaces text, vector halfvec
);
comment on type new_fact is 'A fact that will be stored. read_facts() makes it after the entity was found or created. Each step of storing handles an array of facts in one statement.';
comment on column new_fact.id is 'Id of the fact, if it is stored.';
comment on column new_fact.entity_id is 'Entity that the fact is about.';
comment on column new_fact.entity_name is 'Name of the entity. The fact can be found by the words of the name.';
comment on column new_fact.entity_type is 'Type of the entity. An existing entity keeps its type.';
comment on column new_fact.content is 'Text of the fact.';
comment on column new_fact.content_hash is 'md5 of fact_key(content).';
comment on column new_fact.source is 'conversation, note, document or manual. Null: not given.';
comment on column new_fact.confidence is 'From 0 to 1. Null: not given.';
comment on column new_fact.valid_until is 'The fact is not valid from this instant on. Null: not given.';
comment on column new_fact.replaces is 'Fact that it replaces: an id, the start of an id, or the text. Null: none.';
comment on column new_fact.vector is 'Vector of the active model. Null: not computed yet.';

-- A table, because only its owner can lock it. Every login of the database can take an advisory lock.
-- A login could use that to block deletions, undo and migrations.
create table removal_lock ();
comment on table removal_lock is 'Has no rows. claim_removal() locks it while facts are removed. refresh_search_statistics() locks it while words are counted.';
