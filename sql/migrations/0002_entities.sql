-- Entities and their names, the facts about them (observations), and the relations between them.

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
comment on table entity is 'A person, project or other thing that facts are about. In one space a name belongs to one entity.';
comment on column entity.space_id is 'Space of the entity.';
comment on column entity.id is 'Id of the entity, unique in its space.';
comment on column entity.name is 'Name as it was first written.';
comment on column entity.name_key is 'name_key(name), the form in which names are compared. It is unique in the space.';
comment on column entity.entity_type is 'One of person, concept, project, preference, fact, location, organization.';
comment on column entity.type_guessed is 'True: no caller has given a type yet. The first type that a caller gives replaces the guess.';
comment on column entity.description is 'Description in one sentence. Null: no description was given.';
comment on column entity.metadata is 'Object with two optional keys. The key "type" holds the type as the caller gave it, such as Proyecto, if it is not one of the seven types. The key "retyped" holds the former types, oldest first, each with the event of the change.';
comment on column entity.created_at is 'When the entity was created.';
comment on column entity.updated_at is 'When a fact or relation of the entity was last added, changed or removed.';
comment on column entity.fts is 'Words of the name. A search for similar names uses these words.';
create index entity_updated_at_idx on entity (space_id, updated_at desc, id);
create index entity_created_at_idx on entity (space_id, created_at, id);
-- The digest starts with these two types.
create index entity_digest_idx on entity (space_id, entity_type, updated_at desc, id) where entity_type in ('preference', 'person');
create index entity_name_prefix_idx on entity (space_id, name_key text_pattern_ops);
create index entity_fts_idx on entity using gin (fts) with (fastupdate = off);

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
    closed_at     timestamptz check (isfinite(closed_at)),
    primary key (space_id, id),
    foreign key (space_id, from_entity) references entity on delete cascade,
    foreign key (space_id, to_entity) references entity on delete cascade
);
comment on table relation is 'A directed and named connection of two entities.';
comment on column relation.space_id is 'Space of the relation.';
comment on column relation.id is 'Id of the relation, unique in its space.';
comment on column relation.from_entity is 'Entity that the relation starts at.';
comment on column relation.relation_type is 'Type of the relation in lower case with _ instead of white space, such as works_at.';
comment on column relation.label is 'Type as the caller gave it, such as worksAt. Null: the caller gave the type in the form of relation_type.';
comment on column relation.to_entity is 'Entity that the relation leads to. The graph tools can relate an entity to itself.';
comment on column relation.strength is 'Strength of the connection, from 0 to 1.';
comment on column relation.valid_from is 'The relation is valid from this instant on.';
comment on column relation.valid_until is 'The relation is not valid from this instant on. Null: the relation has not ended.';
comment on column relation.author_id is 'Actor who wrote the relation.';
comment on column relation.client is 'Name and version of the MCP client that wrote the relation. Null: the relation was written from SQL.';
comment on column relation.tool is 'Tool that wrote the relation. sql: the relation was written from psql.';
comment on column relation.request is 'Id of the request that wrote the relation, as in the log of the server. Null: the relation was written from SQL.';
comment on column relation.created_at is 'When the relation was stored.';
comment on column relation.closed_at is 'The last end that was not in the future when it was set. If it equals valid_until, the relation has ended, whatever the clock says. Null: no such end was set.';
create unique index relation_live_idx on relation (space_id, from_entity, relation_type, to_entity) where valid_until is null;
create index relation_from_entity_idx on relation (space_id, from_entity);
create index relation_to_entity_idx on relation (space_id, to_entity);

create table observation (
    space_id     integer not null,
    id           uuid not null default gen_random_uuid(),
    entity_id    uuid not null,
    entity_type  text not null,
    content      text not null check (char_length(content) between 1 and case when whole is null then 2000 else 8000 end),
    content_hash uuid not null,
    whole        uuid,
    part         smallint,
    source       text not null check (source in ('conversation', 'note', 'document', 'manual')),
    confidence   real not null default 1 check (confidence between 0 and 1),
    valid_from   timestamptz not null default now() check (isfinite(valid_from)),
    valid_until  timestamptz check (isfinite(valid_until)),
    replaced_by  uuid,
    relation_id  uuid,
    author_id    integer not null references actor,
    client       text,
    tool         text not null,
    request      text,
    created_at   timestamptz not null default now() check (isfinite(created_at)),
    said_at      timestamptz not null check (isfinite(said_at)),
    ordinal      bigint not null,
    fts          tsvector not null,
    closed_at    timestamptz check (isfinite(closed_at)),
    primary key (space_id, id),
    foreign key (space_id, entity_id) references entity on delete cascade,
    foreign key (space_id, replaced_by) references observation on delete set null (replaced_by),
    foreign key (space_id, relation_id) references relation on delete cascade,
    check ((whole is null) = (part is null) and part > 0),
    check (relation_id = id)
) with (fillfactor = 85);
comment on table observation is 'A fact: one statement about an entity. Its text is never edited. A new fact can replace an old fact. Each relation also has a row here, its statement, so that search finds the relation. The view fact shows only facts.';
comment on column observation.space_id is 'Space of the fact.';
comment on column observation.id is 'Id of the fact, unique in its space.';
comment on column observation.entity_id is 'Entity that the fact is about.';
comment on column observation.entity_type is 'Type of the entity. It is copied here so that filters need no join.';
comment on column observation.content is 'Text of the fact, 1 to 2000 characters. A chunk of a source has up to 8000.';
comment on column observation.content_hash is 'md5 of fact_key(content). Texts that differ only in case, white space or a final full stop have the same hash.';
comment on column observation.whole is 'The text that this fact is a part of: the md5 of a long text that the graph tools split, or the id of a document. Null: the fact is not a part.';
comment on column observation.part is 'Number of the part, from 1. To get the long text, join the parts that have the same values in entity_id and whole, in the order of this number.';
comment on column observation.source is 'Source of the fact: conversation, note, document or manual.';
comment on column observation.confidence is 'Confidence of the author in the fact, from 0 to 1.';
comment on column observation.valid_from is 'The fact is valid from this instant on.';
comment on column observation.valid_until is 'The fact is not valid from this instant on. Null: the fact has not ended.';
comment on column observation.replaced_by is 'The newer fact that replaced this fact. Null: no fact replaced it.';
comment on column observation.relation_id is 'Relation that the row states in words. The row and the relation have the same id. If the relation changes, triggers of the table relation change the row. Null: the row is a fact.';
comment on column observation.author_id is 'Actor who wrote the fact.';
comment on column observation.client is 'Name and version of the MCP client that wrote the fact. Null: the fact was written from SQL.';
comment on column observation.tool is 'Tool that wrote the fact. sql: the fact was written from psql.';
comment on column observation.request is 'Id of the request that wrote the fact, as in the log of the server. Null: the fact was written from SQL.';
comment on column observation.created_at is 'When the fact was stored.';
comment on column observation.said_at is 'When the fact was said. If the author did not give this time, the value equals created_at.';
comment on column observation.ordinal is 'Number of the fact in its space, in the order of storing. Facts of two concurrent writers can have the same number. Search treats facts with neighbouring numbers as parts of one conversation.';
comment on column observation.fts is 'Words by which search finds the fact: search_document(space_id, language of the space, document_names() of the entity, content, said_at if the author gave it). The lexeme ~s<space_id> stands for the space.';
comment on column observation.closed_at is 'The last end that was not in the future when it was set. If it equals valid_until, the fact has ended, whatever the clock says. A revision keeps it, so that an undo finds it again. Null: no such end was set.';
create index observation_entity_idx on observation (space_id, entity_id, content_hash);
create index observation_replaced_by_idx on observation (space_id, replaced_by) where replaced_by is not null;
create unique index observation_relation_idx on observation (space_id, relation_id) where relation_id is not null;
create index observation_valid_until_idx on observation (space_id, valid_until) where valid_until is not null;
create index observation_fts_idx on observation using gin (fts) with (fastupdate = off);
-- Search compares the query with every fact of a rare type. The vector index would return mostly facts of other types.
create index observation_type_idx on observation (space_id, entity_type);
-- If more than a tenth of all facts contains a word, search reads only the newest facts.
create index observation_ordinal_idx on observation (space_id, ordinal);
create index observation_said_at_idx on observation (space_id, said_at);
-- A search finds any part of a long memory. This index finds its first part, however many facts the entity has.
create index observation_whole_idx on observation (space_id, whole, part) where whole is not null;
-- The dashboard and `textrawl stats` count facts by week, source, author and state. They read only this index. The last
-- condition is always true. It keeps the planner from this index in queries that do not repeat it: without statistics,
-- the planner would read all facts of a space in this index to find the same fact again.
create index observation_growth_idx on observation (space_id, created_at)
    include (source, author_id, confidence, valid_until, closed_at, replaced_by, id)
    where relation_id is null and created_at >= '-infinity';
-- has_several_authors() reads the first and the last entry of a space. Entries with the same author share their key, so
-- the index of a space with few authors is small. The condition is always true. It keeps the planner from this index in
-- queries that do not repeat it: without statistics, the planner could read all facts of a space in this index.
create index observation_author_idx on observation (space_id, author_id) where author_id > 0;

-- Triggers and their functions belong to the table. They stay when a migration rebuilds the other functions.
create function number_fact() returns trigger
language plpgsql
set search_path from current
as $$
begin
    -- There is no lock here, so two concurrent writers can take the same number. Their facts then count as neighbours.
    new.ordinal := coalesce((select max(o.ordinal) from observation o where o.space_id = new.space_id), 0) + 1;
    return new;
end
$$;

comment on function number_fact is 'Give a fact the next number in its space.';

create trigger fact_is_numbered before insert on observation
for each row when (new.ordinal is null) execute function number_fact();

create function date_fact() returns trigger
language plpgsql
set search_path from current
as $$
begin
    new.said_at := new.created_at;
    return new;
end
$$;

comment on function date_fact is 'Set said_at of a fact to created_at, if said_at was not given.';

create trigger fact_is_dated before insert on observation
for each row when (new.said_at is null) execute function date_fact();

create function state_relations() returns trigger
language plpgsql
set search_path from current
as $$
begin
    with stated as (
        insert into observation (space_id, id, entity_id, entity_type, content, content_hash, source, valid_from, valid_until,
                                 closed_at, relation_id, author_id, client, tool, request, created_at, fts)
        select r.space_id, r.id, r.from_entity, source.entity_type, text.content, fact_hash(text.content), 'conversation',
            r.valid_from, r.valid_until, r.closed_at, r.id, r.author_id, r.client, r.tool, r.request, r.created_at,
            search_document(r.space_id, space_language(r.space_id), document_names(r.space_id, r.from_entity, r.id), text.content)
        from added r
        -- `limit 1` makes the planner look up each entity by its key, however many relations are added.
        cross join lateral (
            select e.name, e.entity_type from entity e where e.space_id = r.space_id and e.id = r.from_entity limit 1) source
        cross join lateral (select e.name from entity e where e.space_id = r.space_id and e.id = r.to_entity limit 1) target
        cross join lateral (select statement_text(coalesce(r.label, r.relation_type), target.name) as content) text
        order by r.created_at, r.id
        returning space_id, id
    )
    insert into embedding_pending (space_id, observation_id, model_id)
    select s.space_id, s.id, m.id from stated s cross join embedding_model m;
    return null;
end
$$;

comment on function state_relations is 'Store a statement for each new relation and queue it for embedding.';

create function update_statements() returns trigger
language plpgsql
set search_path from current
as $$
begin
    update observation o
    set valid_until = r.valid_until, closed_at = r.closed_at, author_id = r.author_id, client = r.client, tool = r.tool,
        request = r.request
    from changed r
    where o.space_id = r.space_id and o.relation_id = r.id
      and (o.valid_until, o.closed_at, o.author_id, o.client, o.tool, o.request)
          is distinct from (r.valid_until, r.closed_at, r.author_id, r.client, r.tool, r.request);
    return null;
end
$$;

comment on function update_statements is 'Set the end and the author of statements to those of their relations.';

create trigger relation_is_stated after insert on relation
referencing new table as added for each statement execute function state_relations();
create trigger relation_was_changed after update on relation
referencing new table as changed for each statement execute function update_statements();

create type new_fact as (
    id uuid, entity_id uuid, entity_name text, entity_type text, content text, content_hash uuid,
    source text, confidence real, valid_until timestamptz, said_at timestamptz, replaces text, vector halfvec, alias uuid
);
comment on type new_fact is 'A fact that is going to be stored. read_facts() makes it after the entity was found or created. Each step of storing handles an array of these facts in one statement.';
comment on column new_fact.id is 'Id that the fact gets if it is stored.';
comment on column new_fact.entity_id is 'Entity that the fact is about.';
comment on column new_fact.entity_name is 'Name of the entity. Search also finds the fact by the words of this name.';
comment on column new_fact.entity_type is 'Type of the entity. An existing entity keeps its type.';
comment on column new_fact.content is 'Text of the fact.';
comment on column new_fact.content_hash is 'md5 of fact_key(content).';
comment on column new_fact.source is 'Source of the fact: conversation, note, document or manual. Null: not given.';
comment on column new_fact.confidence is 'Confidence of the author, from 0 to 1. Null: not given.';
comment on column new_fact.valid_until is 'The fact is not valid from this instant on. Null: not given.';
comment on column new_fact.said_at is 'When the fact was said. Null: not given.';
comment on column new_fact.replaces is 'Fact that the new fact replaces: an id, the start of an id, or the text. Null: the new fact replaces no fact.';
comment on column new_fact.vector is 'Vector of the active model. Null: not computed yet.';
comment on column new_fact.alias is 'Alias by which the caller named the entity. Null: its name.';

-- An empty table serves as the lock, because only the owner can lock it. Every login of the database could take an
-- advisory lock and so block deletions, undo and migrations.
create table removal_lock ();
comment on table removal_lock is 'A table without rows. claim_removal() locks it while facts are removed. refresh_search_statistics() locks it while words are counted.';

create table revision (
    space_id       integer not null,
    observation_id uuid not null,
    reason         text not null check (char_length(reason) between 1 and 500),
    actor_id       integer not null references actor,
    client         text,
    tool           text not null,
    request        text,
    revised_at     timestamptz not null default clock_timestamp(),
    primary key (space_id, observation_id),
    foreign key (space_id, observation_id) references observation on delete cascade
);
comment on table revision is 'Facts that somebody marked as wrong. A wrong fact ends at its valid_from, so it is valid at no time. Its replaced_by names the fact that is right.';
comment on column revision.space_id is 'Space of the fact.';
comment on column revision.observation_id is 'The wrong fact.';
comment on column revision.reason is 'Why the fact was wrong, 1 to 500 characters.';
comment on column revision.actor_id is 'Actor who revised the fact.';
comment on column revision.client is 'Name and version of the MCP client that revised the fact. Null: it was revised from SQL.';
comment on column revision.tool is 'Tool that revised the fact. sql: it was revised from psql.';
comment on column revision.request is 'Id of the request that revised the fact, as in the log of the server. Null: it was revised from SQL.';
comment on column revision.revised_at is 'When the fact was revised.';

create table entity_alias (
    space_id   integer not null,
    id         uuid not null default gen_random_uuid(),
    entity_id  uuid not null,
    name       text not null check (char_length(name) between 1 and 200),
    name_key   text not null,
    author_id  integer not null references actor,
    client     text,
    tool       text not null,
    request    text,
    created_at timestamptz not null default now(),
    removed_at timestamptz,
    primary key (space_id, id),
    foreign key (space_id, entity_id) references entity on delete cascade
);
comment on table entity_alias is 'Other names (aliases) of entities. In one space a name belongs to one entity, as its name or as an alias.';
comment on column entity_alias.space_id is 'Space of the entity.';
comment on column entity_alias.id is 'Id of the alias. The alias that a merge makes of the name of the merged entity has the id of that entity.';
comment on column entity_alias.entity_id is 'Entity that has this alias.';
comment on column entity_alias.name is 'The alias as it was first written.';
comment on column entity_alias.name_key is 'name_key(name), the form in which names are compared. It is unique among the aliases of the space that are in use, and differs from the keys of all entities.';
comment on column entity_alias.author_id is 'Actor who added the alias.';
comment on column entity_alias.client is 'Name and version of the MCP client that added the alias. Null: the alias was added from SQL.';
comment on column entity_alias.tool is 'Tool that added the alias. sql: the alias was added from psql.';
comment on column entity_alias.request is 'Id of the request that added the alias, as in the log of the server. Null: the alias was added from SQL.';
comment on column entity_alias.created_at is 'When the alias was added.';
comment on column entity_alias.removed_at is 'When the alias was removed. The row is kept for an undo, and no name resolves to it. Null: the alias is in use.';
create unique index entity_alias_key_idx on entity_alias (space_id, name_key) where removed_at is null;
create index entity_alias_entity_idx on entity_alias (space_id, entity_id);
create index entity_alias_prefix_idx on entity_alias (space_id, name_key text_pattern_ops) where removed_at is null;

create table merge (
    space_id     integer not null,
    id           uuid not null default gen_random_uuid(),
    kept_id      uuid not null,
    merged_id    uuid not null,
    entity       jsonb not null,
    facts        uuid[] not null,
    sources      uuid[] not null,
    targets      uuid[] not null,
    reflections  uuid[] not null,
    aliases      uuid[] not null,
    merges       uuid[] not null,
    former       jsonb not null,
    given        jsonb not null,
    actor_id     integer not null references actor,
    at           timestamptz not null,
    primary key (space_id, id),
    unique (space_id, merged_id),
    foreign key (space_id, kept_id) references entity on delete cascade
);
comment on table merge is 'Merges of two entities that were not split. Each row has what a split needs. A split deletes the row.';
comment on column merge.space_id is 'Space of both entities.';
comment on column merge.id is 'Id of the merge.';
comment on column merge.kept_id is 'Entity that has the facts and relations of both entities now.';
comment on column merge.merged_id is 'Id of the entity that no longer exists. The alias of its name has the same id.';
comment on column merge.entity is 'The row of the merged entity, with the values of its node, their changes and its use.';
comment on column merge.facts is 'Facts of the merged entity.';
comment on column merge.sources is 'Relations that started at the merged entity.';
comment on column merge.targets is 'Relations that led to the merged entity.';
comment on column merge.reflections is 'Reflections about the merged entity.';
comment on column merge.aliases is 'Former aliases of the merged entity.';
comment on column merge.merges is 'Earlier merges into the merged entity.';
comment on column merge.former is 'Values of the kept entity before the merge, if the merge changed them: its type and its description.';
comment on column merge.given is 'The same values after the merge. A split resets only values that nobody has changed since.';
comment on column merge.actor_id is 'Actor who merged the entities.';
comment on column merge.at is 'When the entities were merged.';
create index merge_kept_idx on merge (space_id, kept_id);

create table merged (
    space_id    integer not null,
    merge_id    uuid not null,
    id          uuid not null,
    kind        text not null check (kind in ('fact', 'relation')),
    twin        uuid,
    valid_until timestamptz,
    ended       timestamptz not null,
    primary key (space_id, merge_id, id),
    foreign key (space_id, merge_id) references merge on delete cascade
);
comment on table merged is 'Facts and relations that a merge ended: because the kept entity has the same one, or because a relation would lead from the kept entity to itself.';
comment on column merged.space_id is 'Space of the row.';
comment on column merged.merge_id is 'The merge.';
comment on column merged.id is 'Id of the fact or relation.';
comment on column merged.kind is 'fact or relation.';
comment on column merged.twin is 'The same fact or relation of the kept entity. Null: the relation connected the two entities.';
comment on column merged.valid_until is 'End of the fact or relation before the merge. Null: it had no end.';
comment on column merged.ended is 'End that the merge set.';
create index merged_id_idx on merged (space_id, id);
create index merged_twin_idx on merged (space_id, twin) where twin is not null;
