create function textrawl.restore_facts(space integer, undo bigint) returns jsonb
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    kept      record;
    fact      observation;
    duplicate uuid;
    stored    jsonb := '{}';
    -- Facts that this revert restores too can be other spellings of the same text, because the graph tools store each
    -- spelling.
    others    uuid[] := array(
        select d.id from undone d
        where d.space_id = restore_facts.space and d.undo_id = restore_facts.undo and d.action = 'remove' and d.kind = 'observation');
begin
    for kept in
        select d.id, d.before, e.id as entity_id, e.name, e.entity_type
        from undone d
        join entity e on e.space_id = d.space_id
            and e.id = find_restored(d.space_id, d.entities, (d.before ->> 'entity_id')::uuid)
        where d.space_id = restore_facts.space and d.undo_id = restore_facts.undo
          and d.action = 'remove' and d.kind = 'observation'
        order by d.id
    loop
        fact := jsonb_populate_record(null::observation, kept.before);
        fact.entity_id := kept.entity_id;
        duplicate := equal_fact(fact, others);
        duplicate := coalesce(duplicate, (
            select o.id from renewed_ids(fact.id) n
            join textrawl.fact o on o.space_id = fact.space_id and o.id = n.renewed order by n.place limit 1));
        if duplicate is null then
            fact.entity_type := kept.entity_type;
            fact.replaced_by := null;
            fact.fts := search_document(
                fact.space_id, space_language(fact.space_id), document_names(fact.space_id, kept.entity_id), fact.content, nullif(fact.said_at, fact.created_at));
            insert into observation select fact.*;
            perform store_embeddings(fact.space_id, array[fact.id], null, null);
            perform restore_memory(fact.space_id, fact.id, kept.before);
        else
            stored := stored || jsonb_build_object(kept.id::text, duplicate);
        end if;
    end loop;
    -- Set replaced_by after all facts are restored, because it can point to any of them. It stays null if the newer
    -- fact was forgotten meanwhile.
    update observation o set replaced_by = next.id
    from undone d
    join observation next on next.space_id = restore_facts.space
        and next.id = coalesce(stored ->> (d.before ->> 'replaced_by'), d.before ->> 'replaced_by')::uuid
    where d.space_id = restore_facts.space and d.undo_id = restore_facts.undo
      and d.action = 'remove' and d.kind = 'observation'
      and o.space_id = restore_facts.space and o.id = d.id and next.id <> o.id;
    return stored;
end
$$;

comment on function textrawl.restore_facts is
    'Restore the facts that an undo removed, and queue them for embedding. A fact that was stored again meanwhile is '
    'not restored. Return such facts as {former id: id of the new fact}.';
