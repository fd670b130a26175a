-- Spaces and the actors that write in them. All other files build on these two tables.
--
-- Rules for every file in this folder:
-- * A table that belongs to a space has space_id first in its primary key, unique indexes and foreign
--   keys. The schema can then be partitioned or distributed by space.
-- * A table may depend only on the functions of this folder, because a migration drops and creates the
--   functions of the other folders.

create table space (
    id          integer generated always as identity primary key,
    name        text not null unique check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    language    text not null default 'english',
    created_at  timestamptz not null default now(),
    archived_at timestamptz
);
comment on table space is 'A named part of the memory with its own grants: a team''s, a project''s or one person''s.';
comment on column space.id is 'Id of the space. It is the first column in the keys of all tables with rows of a space.';
comment on column space.name is 'Name of the space: lower-case letters, digits, - and _. It is a part of addresses such as /mcp/team.';
comment on column space.language is 'Text search configuration whose rules stem the words of the space, such as english, german or simple. The type is text because pg_upgrade refuses columns of type regconfig.';
comment on column space.created_at is 'When the space was created.';
comment on column space.archived_at is 'Time from which tokens can neither read nor write the space. Null: the space is in use.';

insert into space (name) values ('default');

create table actor (
    id         integer generated always as identity primary key,
    name       text not null unique check (char_length(name) between 1 and 200),
    role_name  text unique,
    created_at timestamptz not null default now()
);
comment on table actor is 'A person, an agent or a service that reads or writes.';
comment on column actor.id is 'Id of the actor.';
comment on column actor.name is 'Unique name of the actor.';
comment on column actor.role_name is 'Database login of the actor, such as the login of an analyst. Sessions of the login act as this actor. Null: the actor uses only tokens.';
comment on column actor.created_at is 'When the actor was registered.';
