create function textrawl.place_parts(document uuid, origin textrawl.origin) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    place   integer := origin.space_id;
    subject record;
    gone    uuid[];
    missing integer[];
    added   uuid[];
begin
    select d.entity_id, e.name, e.entity_type, v.content, lower(j.period)::timestamp at time zone 'UTC' as said_at
    into subject
    from document d
    join entity e on e.space_id = place and e.id = d.entity_id
    join journal_entry j on j.space_id = place and j.document_id = d.id
    left join document_version v on v.space_id = place and v.document_id = d.id and v.version = d.version
    where d.space_id = place and d.id = place_parts.document;
    if not found then
        return;  -- an identity file
    end if;
    -- Keep the parts that are the same, because their vectors are kept too.
    gone := array(
        select o.id from fact o
        where o.space_id = place and o.entity_id = subject.entity_id and o.whole = place_parts.document
          and not exists (select from text_parts(subject.content) p where p.part = o.part and p.text = o.content));
    perform withdraw_words(place, gone);
    perform claim_rows(place, gone, '{}');
    delete from observation o where o.space_id = place and o.id = any(gone);
    missing := array(
        select p.part from text_parts(subject.content) p
        where not exists (
            select from fact o where o.space_id = place and o.entity_id = subject.entity_id
              and o.whole = place_parts.document and o.part = p.part));
    insert into observation as o (space_id, entity_id, entity_type, content, content_hash, whole, part, source, valid_from,
                                  author_id, client, tool, request, created_at, said_at, fts)
    select place, subject.entity_id, subject.entity_type, p.text, fact_hash(p.text), place_parts.document, p.part::smallint, 'note',
        clock_timestamp(), origin.author_id, origin.client, origin.tool, origin.request, clock_timestamp(), subject.said_at,
        search_document(place, space_language(place), subject.name, p.text)
    from text_parts(subject.content) p
    where p.part = any(missing) order by p.part;
    added := array(
        select o.id from fact o
        where o.space_id = place and o.entity_id = subject.entity_id and o.whole = place_parts.document and o.part = any(missing));
    perform store_embeddings(place, added, null, array_fill(null::halfvec, array[cardinality(added)]));
    update entity e set updated_at = clock_timestamp() where e.space_id = place and e.id = subject.entity_id;
end
$$;

comment on function textrawl.place_parts is
    'Make the facts of a journal entry equal to its current text: delete the parts that are no longer in it, and store '
    'the new ones. Their vectors are pending. Call claim_removal() and lock the entity first.';
