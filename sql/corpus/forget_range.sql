create function textrawl.forget_range(document uuid, version bigint, content text, attributes jsonb, origin textrawl.origin)
returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_variable
declare
    home  integer := origin.space_id;
    parts jsonb := (select jsonb_object_agg(p.part, p.text) from source_parts(content, attributes) p);
    gone  uuid[] := array(
        select o.id from document d
        join fact o on o.space_id = home and o.entity_id = d.entity_id and o.whole = d.id
        where d.space_id = home and d.id = document and parts ->> o.part::text is distinct from o.content);
begin
    perform withdraw_queries(home, gone, null);
    perform add_version(document, version, content, attributes, clock_timestamp(), null, origin);
    perform record_event('erased', null, null, null, origin,
        (select jsonb_build_object('document', d.id, 'kind', d.kind, 'path', d.path) from document d
         where d.space_id = home and d.id = document));
    delete from document_version v where v.space_id = home and v.document_id = document and v.version <> forget_range.version;
    delete from correction c where c.space_id = home and c.document_id = document;
    perform place_parts(document, origin);
end
$$;

comment on function textrawl.forget_range is
    'Replace the text of a source by a text without a forgotten chunk, and delete all former versions and all corrections '
    'of the source. Call claim_removal() and lock the entity first.';
