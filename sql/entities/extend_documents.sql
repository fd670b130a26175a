create function textrawl.extend_documents(space integer, entity uuid) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    names text := document_names(extend_documents.space, extend_documents.entity);
    -- Computing a search document anew takes many times longer than adding words to it.
    words tsvector := search_document(extend_documents.space, space_language(extend_documents.space), names, '');
    documents uuid[] := claim_documents(extend_documents.space, array[extend_documents.entity]);
begin
    update entity e
    set fts = to_tsvector('simple', search_text(document_names(e.space_id, e.id, typed => false))), updated_at = clock_timestamp()
    where e.space_id = extend_documents.space and e.id = extend_documents.entity;
    update observation o set fts = o.fts || words
    where o.space_id = extend_documents.space and o.id = any(documents);
end
$$;

comment on function textrawl.extend_documents is
    'Add the words of the aliases of an entity to its facts and to the statements about it. Lock the entity first.';
