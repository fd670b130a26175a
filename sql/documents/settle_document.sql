create function textrawl.settle_document(document uuid, version bigint, origin textrawl.origin) returns void
language plpgsql volatile
set search_path from current
as $$
begin
    update document d
    set version = settle_document.version, changed = next_change(origin.space_id)
    where d.space_id = origin.space_id and d.id = settle_document.document;
    perform place_parts(document, origin);
end
$$;

comment on function textrawl.settle_document is
    'Make another version of a document the current one, for an undo or its revert. If `version` '
    'is null, the document has no text.';
