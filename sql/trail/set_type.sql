create function textrawl.set_type(space integer, entity uuid, former jsonb) returns void
language sql volatile
begin atomic
    update textrawl.entity e
    set entity_type = former ->> 'entity_type', metadata = former -> 'metadata', type_guessed = (former ->> 'type_guessed')::boolean
    where e.space_id = space and e.id = set_type.entity;
    -- The word of a type is in the search documents of the facts.
    update textrawl.observation o
    set entity_type = e.entity_type,
        repository = textrawl.fact_repository(e.entity_type, coalesce(former -> 'repositories' ->> o.id::text, o.repository)),
        fts = textrawl.search_document(
            o.space_id, textrawl.space_language(o.space_id), textrawl.document_names(o.space_id, e.id, o.relation_id), o.content,
            nullif(o.said_at, o.created_at))
    from textrawl.entity e
    where e.space_id = space and e.id = set_type.entity and o.space_id = space and o.entity_id = e.id;
end;

comment on function textrawl.set_type is 'Set the type of an entity to the values that an undo or its revert puts back.';
