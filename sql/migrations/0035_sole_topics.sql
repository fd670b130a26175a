-- Facts that say what has one value at a time are found by the begin of their sentence: see sole_topic().
create index observation_sole_idx on observation (space_id, entity_id, (claim ->> 'sole')) where claim ? 'sole';
-- Servers make the claims of old facts anew, so that newer sentences end them too.
insert into document_rebuild (space_id, former_languages)
select s.id, array[s.language] from space s where exists (select from observation o where o.space_id = s.id)
on conflict (space_id) do update set reached = null, reflections = false;
