-- Erasures of persons, with receipts. A receipt names no content, so it can be kept, and applied again after a restore.

create table receipt_secret (
    singleton boolean primary key default true check (singleton),
    secret    bytea not null default sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
);
comment on table receipt_secret is 'The secret of this memory for receipts of erasures. No login can read it: receipt_key() makes the key of a space from it.';
comment on column receipt_secret.singleton is 'Always true: the table has one row.';
comment on column receipt_secret.secret is 'Random bytes that never change. A backup contains them.';
insert into receipt_secret default values;

create table erasure (
    space_id   integer not null references space,
    id         uuid not null default gen_random_uuid(),
    at         timestamptz not null default now(),
    actor_id   integer references actor on delete set null,
    receipt    jsonb not null,
    primary key (space_id, id)
);
comment on table erasure is 'Erasures of a person from a space, with their receipts.';
comment on column erasure.space_id is 'Space from which the person was erased.';
comment on column erasure.id is 'Id of the erasure.';
comment on column erasure.at is 'Begin of the transaction that erased the person in this memory. Only this transaction can redact events of the trail.';
comment on column erasure.actor_id is 'Actor who erased the person. Null: the actor is not known in this memory.';
comment on column erasure.receipt is 'The signed receipt: ids and counts of the rows, and keyed hashes of the names. It contains no content.';

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
    raise exception 'the trail is append-only' using errcode = 'object_not_in_prerequisite_state';
end
$$;
