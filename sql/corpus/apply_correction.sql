create function textrawl.apply_correction(
    correction uuid,
    graphs text[] default null,  -- only these graphs; null: all
    credential bytea default null, client text default null, tool text default 'sql', request text default null,
    out space_id integer, out document_id uuid, out part integer, out event_id bigint
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    chosen  correction;
    origin  origin;
    version bigint;
    former  record;
    piece   record;
    same    record;
begin
    select c.* into chosen
    from readable_graphs(credential, graphs) g join correction c on c.space_id = g.space_id and c.id = apply_correction.correction;
    if chosen.id is null or chosen.applied_at is not null or chosen.apply_until <= clock_timestamp() then
        raise exception using errcode = 'TR068', message = 'the correction has expired, was applied or does not exist';
    end if;
    origin := open_graph(credential, (select s.name from space s where s.id = chosen.space_id), 'write', client, tool, request);
    perform claim_removal();
    perform from entity e join document d on d.space_id = e.space_id and d.entity_id = e.id
    where e.space_id = chosen.space_id and d.id = chosen.document_id for no key update of e;
    version := next_change(chosen.space_id);
    -- Two calls can apply the same correction. The second call waited for the clock, and finds the correction applied.
    perform from correction c where c.space_id = chosen.space_id and c.id = chosen.id and c.applied_at is null for update;
    if not found then
        raise exception using errcode = 'TR068', message = 'the correction has expired, was applied or does not exist';
    end if;
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
    event_id := (select max(e.id) from event e where e.space_id = chosen.space_id
                 and e.detail ? 'document' and e.detail ->> 'document' = chosen.document_id::text);
    update correction c set applied_at = clock_timestamp(), event_id = apply_correction.event_id
    where c.space_id = chosen.space_id and c.id = chosen.id;
    space_id := chosen.space_id; document_id := chosen.document_id; part := chosen.part;
end
$$;

comment on function textrawl.apply_correction is
    'Replace the text of a chunk by a proposed text. Chunks that overlap the changed words change too. The vectors of '
    'changed chunks are pending. The former text stays in document_version, for undo. Errors: TR010, TR011 (access), TR068 '
    '(the correction has expired, was applied or does not exist), TR069 (the chunk was changed meanwhile).';
