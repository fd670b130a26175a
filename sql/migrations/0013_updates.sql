-- A fact that is told again may take over another source, confidence or end.
alter table undone drop constraint undone_action_check;
alter table undone add check (action in ('remove', 'hand over', 'revive', 'reset', 'drop entity'));
comment on column undone.action is 'What was done to it: remove, hand over, revive, reset (source, confidence, end), drop entity.';
comment on table observation is 'A fact: one atomic statement about an entity. Its text is never edited: a new fact replaces an old one.';
comment on column observation.content_hash is 'md5 of fact_key(content): equal for texts that differ only in case, white space or a final full stop.';
comment on column entity.updated_at is 'When a fact or relation was last added to it, changed or taken from it.';
comment on column event.action is 'created (an entity), retyped, remembered, repeated (said again, perhaps by another), updated (said again with another source, confidence or end), replaced, related, ended (a relation), moved (a fact to another entity), reflected, forgotten, undone, restored, imported.';
comment on column event.detail is 'Counts, ids and values that belong to the action, such as before and after of an update; never text of a fact.';
comment on column new_fact.source is 'conversation, note, document, manual; null: not told.';
comment on column new_fact.confidence is 'From 0 to 1; null: not told.';
comment on column new_fact.valid_until is 'From this instant on it is not valid; null: not told.';

-- An exclamation mark at the end counts since now. Where case folding takes more than ASCII, the
-- fact would merely be stored a second time when it is told again.
update observation
set content_hash = md5(lower(btrim(regexp_replace(content, '\s+', ' ', 'g')) collate "C"))::uuid
where content ~ '!\s*$' and octet_length(content) = char_length(content);
