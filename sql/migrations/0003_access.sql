-- Many people on one memory: who may do what where (grants), by which token, and where a write came from.

alter table space add column archived_at timestamptz;
comment on column space.archived_at is 'Since when nobody reads or writes it through tokens; null: in use.';

alter table actor add column role_name text unique;
comment on column actor.role_name is 'Database login whose sessions act as it, such as an analyst''s in psql; null: only tokens do.';

create table space_grant (
    space_id   integer not null references space on delete cascade,
    actor_id   integer not null references actor on delete cascade,
    scopes     text[] not null check (scopes <@ array['read', 'write', 'forget', 'admin'] and scopes <> '{}'),
    granted_at timestamptz not null default now(),
    primary key (space_id, actor_id)
);
comment on table space_grant is 'What an actor may do in a space; without a row, nothing.';
comment on column space_grant.scopes is 'read, write, forget (delete for good), admin (grants, trail, undo, metrics).';
create index space_grant_actor_id_idx on space_grant (actor_id);

create table token (
    id            integer generated always as identity primary key,
    hash          bytea not null unique check (octet_length(hash) = 32),
    kind          text not null check (kind in ('bearer', 'local', 'federated')),
    prefix        text,
    actor_id      integer not null references actor on delete cascade,
    home_space_id integer references space on delete set null,
    scopes        text[] not null check (scopes <@ array['read', 'write', 'forget', 'admin'] and scopes <> '{}'),
    voucher_id    integer references token on delete cascade,
    created_at    timestamptz not null default now(),
    expires_at    timestamptz check (isfinite(expires_at)),
    last_used_at  timestamptz,
    revoked_at    timestamptz,
    check ((voucher_id is not null) = (kind = 'federated'))
);
comment on table token is 'Credentials: a token may do in a space what both it and a grant to its actor say. Holds hashes alone.';
comment on column token.hash is 'SHA-256 of the token, which nobody keeps but its holder.';
comment on column token.kind is 'bearer: created by textrawl token; local: the person whose embedded memory this is; federated: vouched for by a server that verified it at an identity provider.';
comment on column token.prefix is 'The first characters of the token, by which people tell tokens apart.';
comment on column token.home_space_id is 'The space that writes go to where the address names none; null: the only one that may be written.';
comment on column token.voucher_id is 'The token of the server that vouches; it ends with that, and reaches no space that that has no admin scope for.';
comment on column token.last_used_at is 'To the minute.';
create unique index token_local_idx on token (actor_id) where kind = 'local';
create index token_actor_id_idx on token (actor_id);
create index token_voucher_id_idx on token (voucher_id) where voucher_id is not null;

alter table observation add column request text;
comment on column observation.request is 'Id of the request that stored it, as in the server''s log; null from SQL.';
alter table relation add column request text;
comment on column relation.request is 'Id of the request that stored it, as in the server''s log; null from SQL.';

alter table event
    add column request text,
    add column transaction xid8 not null default pg_current_xact_id();
comment on column event.request is 'Id of the request that did it, as in the server''s log; null from SQL.';
comment on column event.transaction is 'With id, the order in which followers read: ids alone become visible out of order.';
comment on column event.action is 'created (an entity), remembered, repeated (said again, perhaps by another), replaced, related, forgotten.';
create index event_feed_idx on event (space_id, transaction, id);
create index event_actor_idx on event (space_id, actor_id, at);
create index event_observation_idx on event (space_id, observation_id) where observation_id is not null;

-- Policies depend on it, so it is not made anew with the others: that would lock every table.
create function session_spaces() returns integer[]
language plpgsql stable parallel safe security definer set search_path from current
as 'begin return readable_spaces(); end';
comment on function session_spaces is
    'The spaces that this session may read, for row-level security: those of its login, all for the owner.';

create type origin as (space_id integer, author_id integer, client text, tool text, request text);
comment on type origin is 'Where a write belongs and comes from: settled once for each call, by open_write().';
