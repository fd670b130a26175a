-- Facts that a session begins with, because a person pinned them or because their day has come.

-- Facts that were said before they begin: see digest_memory().
create index observation_coming_idx on observation (space_id, valid_from) where valid_from > created_at;

create table pin (
    space_id  integer not null references space,
    fact_id   uuid not null,
    author_id integer not null references actor,
    pinned_at timestamptz not null default now(),
    primary key (space_id, fact_id)
);
comment on table pin is 'A fact that is in every digest of its space, first and whole.';
comment on column pin.space_id is 'Space of the fact.';
comment on column pin.fact_id is 'Fact that was pinned. It is not a key, because an undo can remove the fact and restore it. Of a fact that was replaced, its successor counts.';
comment on column pin.author_id is 'Actor who pinned the fact.';
comment on column pin.pinned_at is 'When the fact was pinned.';

comment on column event.action is 'Action on an entity: created, retyped, described (values of its node changed). On a fact: remembered, repeated (the same text again, perhaps by another author), updated (the same text with another source, confidence, end or said_at), replaced, moved (to another entity), pinned, unpinned, ended (its node was deleted). On a relation: related, ended, described (values of its edge changed). On a document: written, deleted, outvoted (the text lost a conflict), erased (with all versions). On an entity and its names: named (it got an alias), unnamed, merged (another entity was merged into it), split. On a sensitive graph: keyed (it got a key), encrypted (a document was stored), discarded (a document was deleted), destroyed (its key and all its documents). On a proposal: proposed, accepted, rejected, expired. Other actions: reflected, faded, forgotten, undone, restored, imported.';
