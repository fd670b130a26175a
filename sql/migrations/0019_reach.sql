-- Undo reaches what the graph tools do: reflections, moved facts, types, ended relations.
alter table undone
    drop constraint undone_action_check,
    drop constraint undone_kind_check,
    add check (action in ('remove', 'hand over', 'revive', 'reset', 'drop entity', 'move back', 'retype')),
    add check (kind in ('entity', 'observation', 'relation', 'reflection'));
comment on column undone.action is 'What was done to it: remove, hand over, revive, reset (source, confidence, end), drop entity, move back (to the entity that a fact was taken from), retype (to the type that an entity had).';
comment on column undone.kind is 'entity, observation, relation or reflection.';
comment on column entity.metadata is 'type: the type as it was given, where it is none of the seven, such as Proyecto; retyped: the types that it had before each retyping, with the event, oldest first.';
comment on column reflection.author_id is 'Who wrote it: shown as its author.';
comment on column reflection.voice is 'Who speaks, as the writer says: shown apart from the author, and no proof of anything.';
