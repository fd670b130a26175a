create function textrawl.change_nodes(space integer, undo bigint, back boolean) returns void
language sql volatile
begin atomic
    -- Another session can have changed a row meanwhile. So an undo changes only rows with the values of the plan, and a
    -- revert changes only rows with the values that the undo set.
    update textrawl.observation o
    set entity_id = e.id, entity_type = e.entity_type,
        fts = textrawl.search_document(
            o.space_id, textrawl.space_language(o.space_id), textrawl.document_names(o.space_id, e.id), o.content, nullif(o.said_at, o.created_at))
    from textrawl.undone d
    cross join lateral (
        select case when back then d.after else d.before end as former, case when back then d.before else d.after end as next) change
    join textrawl.entity e on e.space_id = d.space_id
        and e.id = textrawl.find_restored(d.space_id, d.entities, (change.next ->> 'entity_id')::uuid)
    where d.space_id = space and d.undo_id = undo and d.action = 'move back'
      and o.space_id = space and o.id = d.id
      and o.entity_id = textrawl.find_restored(d.space_id, d.entities, (change.former ->> 'entity_id')::uuid)
      -- If the same text was stored again meanwhile, do not move the fact. The text must not exist twice.
      and not (textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at, present => clock_timestamp()) and exists (
          select from textrawl.fact duplicate
          where duplicate.space_id = o.space_id and duplicate.entity_id = e.id and duplicate.content_hash = o.content_hash
            and duplicate.content = o.content and (duplicate.whole, duplicate.part) is not distinct from (o.whole, o.part)
            and textrawl.is_valid(duplicate.valid_from, duplicate.valid_until, duplicate.closed_at, present => clock_timestamp())
            and textrawl.is_repetition(duplicate.valid_from, duplicate.created_at, o.valid_from, o.created_at)
            -- Ignore facts that this undo removes.
            and not exists (select from textrawl.undone removed
                            where removed.space_id = space and removed.undo_id = undo
                              and removed.action = 'remove' and removed.id = duplicate.id)));
    update textrawl.entity e set entity_type = change.next ->> 'entity_type', metadata = change.next -> 'metadata',
        type_guessed = (change.next ->> 'type_guessed')::boolean
    from textrawl.undone d
    cross join lateral (
        select case when back then d.after else d.before end as former, case when back then d.before else d.after end as next) change
    where d.space_id = space and d.undo_id = undo and d.action = 'retype' and e.space_id = space and e.id = d.id
      and e.entity_type = change.former ->> 'entity_type' and e.metadata = change.former -> 'metadata';
    -- The word of a type is in the search documents of the facts.
    update textrawl.observation o
    set entity_type = e.entity_type,
        fts = textrawl.search_document(
            o.space_id, textrawl.space_language(o.space_id), textrawl.document_names(o.space_id, e.id, o.relation_id), o.content,
            nullif(o.said_at, o.created_at))
    from textrawl.undone d join textrawl.entity e on e.space_id = d.space_id and e.id = d.id
    where d.space_id = space and d.undo_id = undo and d.action = 'retype' and o.space_id = space and o.entity_id = e.id;
end;

comment on function textrawl.change_nodes is
    'Move facts back to their former entities and give entities their former types, for an undo. If "back" is true, '
    'reverse these changes. The values are in the columns before and after of the table undone.';
