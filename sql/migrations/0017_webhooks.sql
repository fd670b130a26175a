-- Webhooks: addresses to which servers post the events of a space. The trail is the queue: a row knows only its place in it.

create table webhook (
    space_id      integer not null references space,
    id            uuid not null default gen_random_uuid(),
    url           text not null check (char_length(url) <= 2000),
    host          text not null,
    events        text[] not null check (events <@ array['stored', 'proposed', 'decided', 'forgotten', 'undone'] and cardinality(events) > 0),
    content       boolean not null,
    secret        bytea not null check (octet_length(secret) between 24 and 64),
    actor_id      integer references actor,
    created_at    timestamptz not null default now(),
    transaction   xid8 not null,
    event_id      bigint not null,
    claim         uuid,
    session       integer,
    claimed_until timestamptz,
    failures      integer not null default 0,
    failing_since timestamptz,
    last_error    text,
    next_try_at   timestamptz not null default now(),
    delivered_at  timestamptz,
    paused_at     timestamptz,
    primary key (space_id, id)
) with (fillfactor = 50);
comment on table webhook is 'Addresses to which servers post the events of a space. No login can read the secrets: functions give them only to administrators of the space.';
comment on column webhook.space_id is 'Space whose events are posted.';
comment on column webhook.id is 'Id of the webhook.';
comment on column webhook.url is 'Address to which events are posted.';
comment on column webhook.host is 'Host and port of the address. A server posts only to hosts in its TEXTRAWL_WEBHOOK_HOSTS.';
comment on column webhook.events is 'Kinds of events that are posted: see webhook_kind().';
comment on column webhook.content is 'True: names of entities and texts of facts and relations are posted too.';
comment on column webhook.secret is 'Key of the signatures. A server needs it as it is, because receivers check an HMAC.';
comment on column webhook.actor_id is 'Actor who added the webhook. Nothing is posted while this actor has no right to it. Null: the owner of the memory.';
comment on column webhook.created_at is 'When the webhook was added. Earlier events are not posted.';
comment on column webhook.transaction is 'Transaction of the last event that was delivered or passed over.';
comment on column webhook.event_id is 'Number of this event.';
comment on column webhook.claim is 'Claim of the server that delivers now. Null: no server delivers.';
comment on column webhook.session is 'Process id of the database session that made the claim. The claim ends with the session.';
comment on column webhook.claimed_until is 'When the claim ends if nobody renews it.';
comment on column webhook.failures is 'Number of attempts that failed since the last delivery.';
comment on column webhook.failing_since is 'When the first of these attempts failed.';
comment on column webhook.last_error is 'Reason of the last attempt that failed. It contains no text of a receiver.';
comment on column webhook.next_try_at is 'Earliest time of the next attempt.';
comment on column webhook.delivered_at is 'When events were last delivered.';
comment on column webhook.paused_at is 'When the webhook was paused because it failed for days, or because its receiver answered 410. Null: it is not paused.';
