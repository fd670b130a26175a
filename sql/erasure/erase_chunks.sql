create function textrawl.erase_chunks(chunks uuid[], pattern text, origin textrawl.origin) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_variable
declare
    home  integer := origin.space_id;
    doc   record;
    piece record;
begin
    for doc in
        select d.id, d.content, d.attributes, array_agg(o.part::integer) as parts
        from observation o join current_documents(home, 'source') d on d.id = o.whole
        where o.space_id = home and o.id = any(chunks) group by d.id, d.content, d.attributes order by d.id
    loop
        -- From the end, because a cut moves the chunks after it.
        for piece in
            select (c ->> 1)::integer as start, (c ->> 2)::integer as length from jsonb_array_elements(doc.attributes -> 'chunks') c
            where (c ->> 0)::integer = any(doc.parts) order by 1 desc
        loop
            doc.attributes := doc.attributes || jsonb_build_object('chunks', replaced_chunks(doc.attributes -> 'chunks', piece.start, piece.length, 0));
            doc.content := overlay(doc.content placing '' from piece.start + 1 for piece.length);
        end loop;
        -- Half of a name can be at the end of one chunk and half at the beginning of the next.
        if jsonb_typeof(doc.attributes -> 'chunks') <> 'array' or names_person(doc.content || ' ' || doc.attributes::text, pattern) then
            perform erase_document(doc.id, origin);
        else
            perform forget_range(doc.id, next_change(home), doc.content,
                doc.attributes || jsonb_build_object('sha256', encode(sha256(uuid_send(doc.id)), 'hex')), origin);
        end if;
    end loop;
end
$$;

comment on function textrawl.erase_chunks is
    'Delete chunks of sources with their texts and all former versions of the sources. A source whose other text still '
    'names the person is deleted whole. Call claim_removal() first.';
