-- Candidates that somebody dismissed: two entities are not the same, two facts do not contradict or repeat each other, a
-- fact is still true.

create table dismissal (
    space_id   integer not null references space,
    id         uuid not null default gen_random_uuid(),
    kind       text not null check (kind in ('same', 'close', 'stale')),
    one        uuid not null,
    other      uuid not null,
    author_id  integer not null references actor,
    client     text,
    tool       text not null,
    request    text,
    created_at timestamptz not null default now(),
    primary key (space_id, id),
    unique (space_id, kind, one, other),
    check (one <= other),
    check ((kind = 'stale') = (one = other))
);
comment on table dismissal is 'A candidate that somebody dismissed, so that lists and counts leave it out.';
comment on column dismissal.space_id is 'Space of the candidate.';
comment on column dismissal.id is 'Id of the row, which the trail names.';
comment on column dismissal.kind is 'same: two entities are not the same. close: two facts do not contradict or repeat each other. stale: a fact is still true.';
comment on column dismissal.one is 'Id of the entity or the fact with the smaller id. It is not a key, because an undo can remove the entity or the fact and restore it.';
comment on column dismissal.other is 'Id of the other entity or fact; for stale the same id.';
comment on column dismissal.author_id is 'Actor who dismissed the candidate.';
comment on column dismissal.client is 'Name and version of the client. Null: from SQL.';
comment on column dismissal.tool is 'Tool that dismissed the candidate. sql: from psql.';
comment on column dismissal.request is 'Id of the request. Null: from SQL.';
comment on column dismissal.created_at is 'When the candidate was dismissed.';
create index dismissal_other_idx on dismissal (space_id, other);
create index dismissal_one_idx on dismissal (space_id, one);

alter table undone drop constraint undone_kind_check;
alter table undone add constraint undone_kind_check check (kind in (
    'entity', 'observation', 'relation', 'reflection', 'document', 'proposal', 'alias', 'merge', 'dismissal'));
comment on column undone.kind is 'entity, observation, relation, reflection, document, proposal, alias, merge or dismissal.';
