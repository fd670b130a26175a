-- Other names of entities, and the merges of two entities into one.

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

-- An undo finds all events of an alias or a merge.
create index event_alias_idx on event (space_id, (detail ->> 'alias')) where detail ? 'alias';
create index event_merge_idx on event (space_id, (detail ->> 'merge')) where detail ? 'merge';
