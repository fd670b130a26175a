-- Grants and access tokens: which actor may do what in which space.

create table space_grant (
    space_id   integer not null references space on delete cascade,
    actor_id   integer not null references actor on delete cascade,
    scopes     text[] not null check (scopes <@ array['read', 'write', 'forget', 'admin', 'metrics'] and scopes <> '{}'),
    for_login  boolean not null default false,
    granted_at timestamptz not null default now(),
    primary key (space_id, actor_id)
);
comment on table space_grant is 'Scopes of an actor in a space. Without a row the actor has no access.';
comment on column space_grant.space_id is 'Space that the grant is for.';
comment on column space_grant.actor_id is 'Actor who has the grant.';
comment on column space_grant.scopes is 'read, write, forget (permanent deletion), admin (grants, trail, undo), metrics (figures of the servers, no content of the space).';
comment on column space_grant.for_login is 'True: create_analyst() granted read for the database login of the actor, and drop_analyst() removes it.';
comment on column space_grant.granted_at is 'When it was granted or last changed.';
create index space_grant_actor_id_idx on space_grant (actor_id);

create table token (
    id            integer generated always as identity primary key,
    hash          bytea not null unique check (octet_length(hash) = 32),
    kind          text not null check (kind in ('bearer', 'local', 'federated')),
    prefix        text,
    actor_id      integer not null references actor on delete cascade,
    home_space_id integer references space on delete set null,
    scopes        text[] not null check (scopes <@ array['read', 'write', 'forget', 'admin', 'metrics'] and scopes <> '{}'),
    issuer        text check (char_length(issuer) between 1 and 2000),
    voucher_id    integer references token on delete cascade,
    created_at    timestamptz not null default now(),
    expires_at    timestamptz check (isfinite(expires_at)),
    last_used_at  timestamptz,
    revoked_at    timestamptz,
    check ((voucher_id is not null) = (kind = 'federated'))
);
comment on table token is 'Access tokens. A token can use a scope in a space only if both the token and a grant of its actor include it. Only hashes are stored.';
comment on column token.id is 'Number of the token.';
comment on column token.hash is 'SHA-256 of the token. Only its holder has the token itself.';
comment on column token.kind is 'bearer: created by textrawl token. local: for the owner of an embedded memory. federated: a server verified it at an identity provider.';
comment on column token.prefix is 'First characters of the token. People recognise tokens by them.';
comment on column token.actor_id is 'Actor of the token, who is the author of its writes.';
comment on column token.home_space_id is 'Space for writes if the address names no space. Null: the only space that the token may write.';
comment on column token.scopes is 'Scopes that the token can have at most: read, write, forget, admin, metrics.';
comment on column token.issuer is 'Identity provider that a server with this token may vouch for, as in OAUTH_ISSUER. Null: none.';
comment on column token.voucher_id is 'Token of the server that verified a federated token. The federated token ends with it. It reaches only spaces where the token of the server has the scope admin.';
comment on column token.created_at is 'When the token was created.';
comment on column token.expires_at is 'When the token expires. Null: never.';
comment on column token.last_used_at is 'When the token was last used, to the minute.';
comment on column token.revoked_at is 'When the token was revoked. Null: it was not.';
create unique index token_local_idx on token (actor_id) where kind = 'local';
create index token_actor_id_idx on token (actor_id);
create index token_voucher_id_idx on token (voucher_id) where voucher_id is not null;

-- The policies of all tables call this function. A migration cannot rebuild it without locking every table.
create function session_spaces() returns integer[]
language plpgsql stable parallel safe security definer set search_path from current
as 'begin return readable_spaces(); end';

comment on function session_spaces is
    'Spaces that this session may read, for row-level security. These are the spaces of its login, or all spaces for the owner.';

create type origin as (space_id integer, author_id integer, client text, tool text, request text);
comment on type origin is 'Where a write goes and where it comes from. open_write() determines it once per call.';
comment on column origin.space_id is 'Space that is written.';
comment on column origin.author_id is 'Actor who writes.';
comment on column origin.client is 'Name and version of the MCP client. Null: written from SQL.';
comment on column origin.tool is 'Tool that writes. sql: written from psql.';
comment on column origin.request is 'Id of the request, as in the log of the server. Null: written from SQL.';
