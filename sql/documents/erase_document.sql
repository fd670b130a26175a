create function textrawl.erase_document(document uuid, origin textrawl.origin) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    home  integer := origin.space_id;
    owner uuid;
    gone  uuid[];
begin
    select d.entity_id into owner from document d where d.space_id = home and d.id = erase_document.document;
    perform record_event('erased', null, null, null, origin,
                         (select jsonb_build_object('document', d.id, 'kind', d.kind, 'path', d.path)
                          from document d where d.space_id = home and d.id = erase_document.document));
    gone := array(
        select o.id from fact o where o.space_id = home and o.entity_id = owner and o.whole = erase_document.document);
    perform withdraw_words(home, gone);
    perform claim_rows(home, gone, '{}');
    perform withdraw_queries(home, gone, null);
    delete from observation o where o.space_id = home and o.id = any(gone);
    delete from document d where d.space_id = home and d.id = erase_document.document;
    perform drop_owners(home, array[owner]);
end
$$;

comment on function textrawl.erase_document is
    'Delete a document with all its versions and facts. Delete its entity too, if the entity has no other facts and no '
    'relations. The trail keeps the path. Call claim_removal() and lock the entity first.';
