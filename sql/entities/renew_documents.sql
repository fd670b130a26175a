create function textrawl.renew_documents(space integer, entities uuid[]) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    language  regconfig := space_language(renew_documents.space);
    documents uuid[]    := claim_documents(renew_documents.space, entities);
begin
    update entity e
    set fts = to_tsvector('simple', search_text(document_names(e.space_id, e.id, typed => false))), updated_at = clock_timestamp()
    where e.space_id = renew_documents.space and e.id = any(entities);
    update observation o set fts = search_document(
        o.space_id, language, document_names(o.space_id, o.entity_id, o.relation_id), o.content, nullif(o.said_at, o.created_at))
    where o.space_id = renew_documents.space and o.id = any(documents);
end
$$;

comment on function textrawl.renew_documents is
    'Make the search documents of the facts of some entities, and of the statements about these entities, anew. Lock '
    'the entities first.';
