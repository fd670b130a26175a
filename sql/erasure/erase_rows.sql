create function textrawl.erase_rows(
    rows jsonb,  -- keys of rows by kind, as erasure_rows() names them
    names text[], persons uuid[], actors integer[], redacting boolean, origin textrawl.origin
) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    home      integer := origin.space_id;
    pattern   text := person_pattern(names);
    relations uuid[] := array(select jsonb_array_elements_text(rows -> 'relation')::uuid);
    facts     uuid[] := array(select jsonb_array_elements_text(rows -> 'observation')::uuid);
    removed   uuid[] := facts || relations;  -- a statement has the id of its relation
    touched   uuid[];  -- entities of deleted facts and relations
    renamed   uuid[] := array(  -- entities of which a name or a type goes
        select a.entity_id from entity_alias a
        where a.space_id = origin.space_id and a.id::text in (select jsonb_array_elements_text(rows -> 'entity_alias'))
        union
        select jsonb_array_elements_text(rows -> 'entity redacted')::uuid);
    t         record;
begin
    touched := array(
        select o.entity_id from observation o where o.space_id = home and o.id = any(removed)
        union
        select r.to_entity from relation r where r.space_id = home and r.id = any(relations)
        order by 1);
    perform withdraw_words(home, removed);
    perform claim_rows(home, removed, relations);
    perform withdraw_queries(home, removed, null);
    perform forget_proposals(home, '', removed || persons, false);
    delete from undone u where u.space_id = home and u.id = any(removed || persons);
    delete from dismissal d where d.space_id = home and (d.one = any(removed || persons) or d.other = any(removed || persons));
    delete from pin p where p.space_id = home and p.fact_id = any(removed);
    perform erase_chunks(array(select jsonb_array_elements_text(rows -> 'chunk')::uuid), pattern, origin);
    perform erase_document(d.id, origin) from document d
    where d.space_id = home and d.id::text in (select jsonb_array_elements_text(rows -> 'document')) order by d.id;
    delete from relation r where r.space_id = home and r.id = any(relations);
    delete from observation o where o.space_id = home and o.id = any(facts);
    for t in
        select h.name, h.key, array(select jsonb_array_elements_text(rows -> h.name)) as keys from content_tables() h
        where rows ? h.name and h.name not in ('relation', 'observation', 'document', 'entity')
    loop
        execute format('delete from %I where space_id = $1 and (%s)::text = any($2)', t.name, t.key) using home, t.keys;
    end loop;
    -- An entity of which something stays is kept.
    delete from entity e
    where e.space_id = home
      and not exists (select from observation o where o.space_id = home and o.entity_id = e.id)
      and not exists (select from relation r where r.space_id = home and e.id in (r.from_entity, r.to_entity))
      and not exists (select from reflection f where f.space_id = home and f.entity_id = e.id)
      and not exists (select from document d where d.space_id = home and d.entity_id = e.id)
      -- Of other entities go those of which nobody else said anything.
      and (rows -> 'entity' ? e.id::text
           or e.id = any(persons || touched) and e.description is null
              and not exists (select from entity_alias a where a.space_id = home and a.entity_id = e.id)
              and not exists (select from graph_node g where g.space_id = home and g.entity_id = e.id and g.deleted_at is null));
    if redacting then
        delete from document_tombstone b where b.space_id = home and names_person(b.path, pattern);
        perform redact_person(home, pattern, actors);
    end if;
    perform from entity e where e.space_id = home and e.id = any(renamed) order by e.name_key for update;
    perform renew_documents(home, renamed);
    -- A word of the names that no fact has any more stays in no statistics.
    update space_statistics s set lives = null where s.space_id = home and names_person(s.lives::text, pattern);
    delete from lexeme l
    where l.space_id = home and l.word = any(tsvector_to_array(search_document(home, space_language(home), '', array_to_string(names, ' '))))
      and not exists (select from observation o where o.space_id = home and o.fts @@ quote_literal(l.word)::tsquery);
end
$$;

comment on function textrawl.erase_rows is
    'Delete the rows of an erasure with all that repeats their content, and redact the others. The receipt must be '
    'stored in the same transaction before. Call claim_removal(alone => true) first.';
