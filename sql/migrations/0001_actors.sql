-- Spaces, the actors that read and write in them, and their grants and tokens. All other files build on these tables.
--
-- Rules for every file in this folder:
-- * A table that belongs to a space has space_id first in its primary key, unique indexes and foreign
--   keys. The schema can then be partitioned or distributed by space.
-- * A table may depend only on the functions of this folder, because a migration drops and creates the
--   functions of the other folders.

create table space (
    id            integer generated always as identity primary key,
    name          text not null unique check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    language      text not null default 'english',
    created_at    timestamptz not null default now(),
    archived_at   timestamptz,
    tier          text check (tier in ('public', 'personal', 'sensitive')),
    recall_tokens integer check (recall_tokens between 0 and 100000),
    reviewed      boolean not null default false,
    proposal_days integer check (proposal_days between 1 and 3650),
    check (recall_tokens is null or tier is not null),
    check (not reviewed or tier is null)
);
comment on table space is 'A named part of the memory with its own grants: a team''s, a project''s or one person''s.';
comment on column space.id is 'Id of the space. It is the first column in the keys of all tables with rows of a space.';
comment on column space.name is 'Name of the space: lower-case letters, digits, - and _. It is a part of addresses such as /mcp/team.';
comment on column space.language is 'Text search configuration whose rules stem the words of the space, such as english, german or simple. The type is text because pg_upgrade refuses columns of type regconfig.';
comment on column space.created_at is 'When the space was created.';
comment on column space.archived_at is 'Time from which tokens can neither read nor write the space. Null: the space is in use.';
comment on column space.tier is 'public, personal or sensitive: the space is a graph, which holds sources instead of facts. MCP clients never get texts of sensitive graphs. Null: the space holds facts.';
comment on column space.recall_tokens is 'Largest number of tokens of this graph in one answer. Null: the default of its tier (recall_cap).';
comment on column space.reviewed is 'True: writes of tokens without the scope review are proposals.';
comment on column space.proposal_days is 'Days after which a pending proposal expires. Null: proposals do not expire.';

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

create table space_grant (
    space_id   integer not null references space on delete cascade,
    actor_id   integer not null references actor on delete cascade,
    scopes     text[] not null check (scopes <@ array['read', 'propose', 'write', 'forget', 'review', 'admin', 'metrics'] and scopes <> '{}'),
    for_login  boolean not null default false,
    granted_at timestamptz not null default now(),
    primary key (space_id, actor_id)
);
comment on table space_grant is 'Scopes of an actor in a space. Without a row the actor has no access to the space.';
comment on column space_grant.space_id is 'Space that the grant is for.';
comment on column space_grant.actor_id is 'Actor who has the grant.';
comment on column space_grant.scopes is 'read, propose (writes become proposals), write, forget (permanent deletion), review (see and decide proposals), admin (grants, trail, undo), metrics (measurements of the servers, without content of the space).';
comment on column space_grant.for_login is 'True: create_analyst() granted read for the database login of the actor, and drop_analyst() removes it.';
comment on column space_grant.granted_at is 'When the grant was made or last changed.';
create index space_grant_actor_id_idx on space_grant (actor_id);

create table token (
    id            integer generated always as identity primary key,
    hash          bytea not null unique check (octet_length(hash) = 32),
    kind          text not null check (kind in ('bearer', 'local', 'federated')),
    prefix        text,
    actor_id      integer not null references actor on delete cascade,
    home_space_id integer references space on delete set null,
    scopes        text[] not null check (scopes <@ array['read', 'propose', 'write', 'forget', 'review', 'admin', 'metrics'] and scopes <> '{}'),
    issuer        text check (char_length(issuer) between 1 and 2000),
    voucher_id    integer references token on delete cascade,
    created_at    timestamptz not null default now(),
    expires_at    timestamptz check (isfinite(expires_at)),
    last_used_at  timestamptz,
    revoked_at    timestamptz,
    check ((voucher_id is not null) = (kind = 'federated'))
);
comment on table token is 'Access tokens. A token can use a scope in a space only if both the token and the grant of its actor include the scope. Only hashes are stored.';
comment on column token.id is 'Number of the token.';
comment on column token.hash is 'SHA-256 of the token. The token itself is not stored.';
comment on column token.kind is 'bearer: created by textrawl token. local: for the owner of an embedded memory. federated: issued by an identity provider and verified by a server.';
comment on column token.prefix is 'First characters of the token, by which people recognise it.';
comment on column token.actor_id is 'Actor of the token, who is the author of its writes.';
comment on column token.home_space_id is 'Space that writes go to if the address names no space. Null: writes go to the only space that the token can write.';
comment on column token.scopes is 'Some of read, propose, write, forget, review, admin, metrics. In a space, the token can use a scope only if the grant of its actor includes the scope.';
comment on column token.issuer is 'Identity provider, as in TEXTRAWL_OAUTH_ISSUER. A server with this token can vouch for users that this provider identified. Null: the token cannot vouch for users.';
comment on column token.voucher_id is 'Token of the server that verified a federated token. When the server''s token is revoked or expires, the federated token is not accepted any more. It gives access only to spaces in which the server''s token has the scope admin.';
comment on column token.created_at is 'When the token was created.';
comment on column token.expires_at is 'When the token expires. Null: never.';
comment on column token.last_used_at is 'When the token was last used, to the minute.';
comment on column token.revoked_at is 'When the token was revoked. Null: the token was not revoked.';
create unique index token_local_idx on token (actor_id) where kind = 'local';
create index token_actor_id_idx on token (actor_id);
create index token_voucher_id_idx on token (voucher_id) where voucher_id is not null;

-- The policies of all tables call this function. It is not in a file of its own, because a migration that rebuilt the
-- function would lock every table.
create function session_spaces() returns integer[]
language plpgsql stable parallel safe security definer set search_path from current
as 'begin return readable_spaces(graphs => true); end';

comment on function session_spaces is
    'The spaces that this session can read, for row-level security: the spaces of its login, or all spaces for the '
    'owner.';

create type origin as (space_id integer, author_id integer, client text, tool text, request text, proposed boolean);
comment on type origin is 'The space that a write goes to, and the author, client, tool and request that it comes from. open_write() determines them once in each call.';
comment on column origin.space_id is 'Space that the write goes to.';
comment on column origin.author_id is 'Actor who writes.';
comment on column origin.client is 'Name and version of the MCP client. Null: the write comes from SQL.';
comment on column origin.tool is 'Tool that writes. sql: the write comes from psql.';
comment on column origin.request is 'Id of the request, as in the log of the server. Null: the write comes from SQL.';
comment on column origin.proposed is 'True: the caller can only propose, so the write becomes a proposal.';
