-- Claims have the words by which a fact ends another one, and are read in six languages. Servers make the claims of old
-- facts anew.
insert into document_rebuild (space_id, former_languages)
select s.id, array[s.language] from space s where exists (select from observation o where o.space_id = s.id)
on conflict (space_id) do update set reached = null, reflections = false;
