create function textrawl.export_notes(space integer) returns table (
    id uuid,
    entity jsonb,     -- as in export_entities()
    aliases jsonb,    -- as in export_aliases()
    facts jsonb,      -- as in export_facts(), with "valid", and "wrong": the reason of its revision
    relations jsonb   -- from the entity, as in export_relations(), with "valid", and "to": the name of the other entity
)
language sql stable
begin atomic
    select e.id, to_jsonb(e),
        (select jsonb_agg(to_jsonb(a) order by a.created_at, a.id) from textrawl.export_aliases(export_notes.space) a where a.entity = e.id),
        (select jsonb_agg(
            to_jsonb(f) || jsonb_build_object(
                'valid', textrawl.is_valid(f.valid_from, f.valid_until, f.closed_at),
                -- A join could read all revisions of the space for each entity.
                'wrong', (select jsonb_build_object('reason', r.reason) from textrawl.revision r where r.space_id = export_notes.space and r.observation_id = f.id))
            order by f.created_at, f.id)
         from textrawl.export_facts(export_notes.space) f
         where f.entity = e.id),
        (select jsonb_agg(
            to_jsonb(r) || jsonb_build_object('valid', textrawl.is_valid(r.valid_from, r.valid_until, r.closed_at), 'to', t.name)
            order by r.created_at, r.id)
         from textrawl.export_relations(export_notes.space) r
         join textrawl.entity t on t.space_id = export_notes.space and t.id = r.to_entity
         where r.from_entity = e.id)
    from textrawl.export_entities(export_notes.space) e
    -- The entity of a journal entry or of a source has only the parts of its text.
    where not exists (select from textrawl.document d where d.space_id = export_notes.space and d.entity_id = e.id)
    order by e.created_at, e.id;
end;

comment on function textrawl.export_notes is
    'Entities of a space, oldest first, each with everything that its note shows. '
    'Example: select entity ->> ''name'', facts from textrawl.export_notes(1);';
