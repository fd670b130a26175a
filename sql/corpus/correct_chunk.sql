create function textrawl.correct_chunk(chosen textrawl.correction, version bigint, origin textrawl.origin)
returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_variable
declare
    former record;
    piece  record;
    same   record;
begin
    select d.content, d.attributes into former
    from current_documents(chosen.space_id, 'source') d where d.id = chosen.document_id;
    select (c ->> 1)::integer as start, (c ->> 2)::integer as length into piece
    from jsonb_array_elements(former.attributes -> 'chunks') c where (c ->> 0)::integer = chosen.part;
    if substr(former.content, piece.start + 1, piece.length) is distinct from chosen.original_text then
        raise exception using errcode = 'TR069', message = 'the chunk was changed meanwhile';
    end if;
    select r.* into same from changed_range(chosen.original_text, chosen.proposed_text) r;
    perform add_version(
        chosen.document_id, version,
        overlay(former.content placing chosen.proposed_text from piece.start + 1 for piece.length),
        former.attributes || jsonb_build_object('chunks', corrected_chunks(
            former.attributes -> 'chunks', chosen.part, piece.start + same.prefix,
            piece.length - same.prefix - same.suffix,
            char_length(chosen.proposed_text) - same.prefix - same.suffix,
            chosen.tokens, least(chosen.tokens, changed_bytes(chosen.proposed_text, same.prefix, same.suffix)))),
        clock_timestamp(), null, origin);
    perform place_parts(chosen.document_id, origin);
end
$$;

comment on function textrawl.correct_chunk is
    'Store the version of a source in which a correction is applied. Call claim_removal() and lock the entity first. Error '
    'TR069: the chunk was changed meanwhile.';
