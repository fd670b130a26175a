-- Encrypted documents of sensitive graphs. Commands encrypt and decrypt: no key comes into the database.

create table graph_key (
    space_id   integer primary key references space,
    id         uuid not null,
    created_at timestamptz not null default now() check (isfinite(created_at))
);
comment on table graph_key is 'The keys of sensitive graphs. The keys themselves are in files of their owners, never in the database.';
comment on column graph_key.space_id is 'The graph.';
comment on column graph_key.id is 'Id of the key, which is derived from the key. It tells keys apart, and reveals nothing.';
comment on column graph_key.created_at is 'When the graph got the key.';

create table encrypted_document (
    space_id   integer not null references space,
    id         uuid not null,
    version    integer not null default 1 check (version > 0),
    digest     bytea not null check (octet_length(digest) = 32),
    head       bytea not null check (octet_length(head) between 29 and 100000),
    content    bytea not null check (octet_length(content) between 29 and 60000000),
    created_at timestamptz not null default clock_timestamp() check (isfinite(created_at)),
    stored_at  timestamptz not null default clock_timestamp() check (isfinite(stored_at)),
    primary key (space_id, id)
);
comment on table encrypted_document is 'Documents of sensitive graphs, encrypted with AES-256-GCM by the command that stored them.';
comment on column encrypted_document.space_id is 'The graph.';
comment on column encrypted_document.id is 'Id of the document: a keyed digest of its path.';
comment on column encrypted_document.version is 'Number of the text, from 1. Former texts are not kept.';
comment on column encrypted_document.digest is 'Keyed digest of the file (HMAC-SHA-256), which recognizes the same content.';
comment on column encrypted_document.head is 'Nonce and ciphertext of the path, label, kind, hash, time of change and sizes.';
comment on column encrypted_document.content is 'Nonce and ciphertext of the text with the places of its chunks.';
comment on column encrypted_document.created_at is 'When the document was first stored.';
comment on column encrypted_document.stored_at is 'When this version was stored.';
create index encrypted_document_digest_idx on encrypted_document (space_id, digest);

-- A sensitive graph of an older version can still hold sources in the clear, but it gets no new ones.
create function refuse_clear_source() returns trigger
language plpgsql
set search_path from current
as $$
begin
    if (select s.tier from space s where s.id = new.space_id) = 'sensitive' then
        raise exception using errcode = 'TR131', message = 'a sensitive graph holds only encrypted documents',
            detail = (select s.name from space s where s.id = new.space_id);
    end if;
    return new;
end
$$;
comment on function refuse_clear_source is 'Refuse a source in the clear in a sensitive graph.';
create trigger refuse_clear_source before insert on source for each row execute function refuse_clear_source();
comment on column event.action is 'Action on an entity: created, retyped, described (values of its node changed). On a fact: remembered, repeated (the same text again, perhaps by another author), updated (the same text with another source, confidence, end or said_at), replaced, moved (to another entity), ended (its node was deleted). On a relation: related, ended, described (values of its edge changed). On a document: written, deleted, outvoted (the text lost a conflict), erased (with all versions). On an entity and its names: named (it got an alias), unnamed, merged (another entity was merged into it), split. On a sensitive graph: keyed (it got a key), encrypted (a document was stored), discarded (a document was deleted), destroyed (its key and all its documents). On a proposal: proposed, accepted, rejected, expired. Other actions: reflected, faded, forgotten, undone, restored, imported.';

create or replace function keep_events() returns trigger
language plpgsql
set search_path from current
as $$
begin
    -- settle_events() sets the transaction to 0 if the event was restored from another cluster. The transaction numbers
    -- of that cluster have no meaning here.
    if tg_op = 'UPDATE' and to_jsonb(new) = to_jsonb(old) || '{"transaction": "0"}' then
        return new;
    end if;
    -- An erasure takes the person's name out of the details, and leaves a receipt in the same transaction.
    if tg_op = 'UPDATE' and to_jsonb(new) - '{client,request,detail}'::text[] = to_jsonb(old) - '{client,request,detail}'::text[]
       and exists (select from erasure e where e.space_id = old.space_id and e.at = now()) then
        return new;
    end if;
    -- When the last source of a sensitive graph is encrypted, wipe_graph() takes their paths out of its events.
    if tg_op = 'UPDATE' and old.detail @> new.detail
       and (new.client is null or new.client = old.client) and (new.request is null or new.request = old.request)
       and to_jsonb(new) - '{client,request,detail}'::text[] = to_jsonb(old) - '{client,request,detail}'::text[]
       and exists (select from space s where s.id = old.space_id and s.tier = 'sensitive') then
        return new;
    end if;
    raise exception 'the trail is append-only' using errcode = 'object_not_in_prerequisite_state';
end
$$;
