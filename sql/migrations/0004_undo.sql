-- Taking back what one author wrote: which events, and what has to be kept to put it back.

create table undo (
    space_id    integer not null references space,
    id          bigint generated always as identity,
    author_id   integer not null references actor,
    actor_id    integer not null references actor,
    since       timestamptz not null check (isfinite(since)),
    at          timestamptz not null default now(),
    events      bigint[] not null,
    reverted_at timestamptz,
    purged_at   timestamptz,
    primary key (space_id, id)
);
comment on table undo is 'Each time that an author''s writes were taken back, space by space.';
comment on column undo.author_id is 'Whose writes.';
comment on column undo.actor_id is 'Who took them back.';
comment on column undo.events is 'Ids of the events that do not count any more, unless it was reverted.';
comment on column undo.reverted_at is 'Since when everything is back; null: it is not.';
comment on column undo.purged_at is 'Since when what was taken back is deleted for good; null: it is kept.';

create table undone (
    space_id integer not null,
    undo_id  bigint not null,
    action   text not null check (action in ('remove', 'hand over', 'revive', 'drop entity')),
    kind     text not null check (kind in ('entity', 'observation', 'relation')),
    id       uuid not null,
    names    text[] not null,
    entities jsonb not null default '[]',
    before   jsonb not null,
    after    jsonb,
    primary key (space_id, undo_id, id, action),
    foreign key (space_id, undo_id) references undo on delete cascade
);
comment on table undone is 'What undos took out of the memory or changed in it, kept until it is purged or its entity forgotten.';
comment on column undone.names is 'name_key of every entity that it says something about.';
comment on column undone.entities is 'Those entities as they were, where it may be all that knows them.';
comment on column undone.before is 'The row as it was, or the columns that were changed.';
comment on column undone.after is 'The changed columns as the undo left them; null: the row went.';
create index undone_id_idx on undone (space_id, id);
create index undone_names_idx on undone using gin (names);

comment on column event.action is 'created (an entity), remembered, repeated (said again, perhaps by another), replaced, related, forgotten, undone, restored.';
create index event_relation_idx on event (space_id, relation_id) where relation_id is not null;
create index event_replaced_idx on event (space_id, (detail ->> 'replaced')) where detail ? 'replaced';

-- Triggers and what they call belong to the table: functions of sql/ are made anew with every change.
create function keep_events() returns trigger
language plpgsql
set search_path from current
as $$
begin
    -- Numbers of transactions mean nothing in another cluster than the one that gave them: read_events().
    if tg_op = 'UPDATE' and to_jsonb(new) = to_jsonb(old) || '{"transaction": "0"}' then
        return new;
    end if;
    raise exception 'the trail is append-only' using errcode = 'object_not_in_prerequisite_state';
end
$$;

comment on function keep_events is 'Refuses to change or delete a line of the trail, also to the memory''s owner.';

create trigger event_is_kept before update or delete on event
for each row execute function keep_events();
create trigger events_are_kept before truncate on event
for each statement execute function keep_events();
