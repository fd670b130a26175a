-- One model at a time is compared with questions. Another may be built beside it, and the one that
-- was active before is kept until it is dropped, so that changing the model can be taken back.

alter table embedding_model
    add column status text not null default 'active' check (status in ('building', 'active', 'previous')),
    add column status_since timestamptz not null default now(),
    add column queued boolean not null default true,
    add column queued_space integer,
    add column queued_observation uuid;
comment on column embedding_model.status is 'building: gets vectors; active: answers questions and gets vectors; previous: was active, still gets vectors so that a rollback finds them.';
comment on column embedding_model.status_since is 'When it got its status.';
comment on column embedding_model.queued is 'Whether all facts that were there before the model have been put on embedding_pending.';
comment on column embedding_model.queued_space is 'Space of the last fact that was put there, with queued_observation: in their order the rest follows.';
comment on column embedding_model.queued_observation is 'The last fact that was put there; null: none yet.';

-- Until now every server compared what it had been told to: the newest is what most were told.
update embedding_model set status = 'previous' where id <> (select max(id) from embedding_model);
create unique index embedding_model_status_idx on embedding_model (status) where status <> 'previous';

comment on column event.action is 'remembered, repeated, replaced, related, created, forgotten, undone, reverted, restored, purged, imported.';
