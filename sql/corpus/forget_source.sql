create function textrawl.forget_source(
    document uuid,
    chunk_part integer default null,  -- only this chunk; null: the source
    graphs text[] default null,  -- only these graphs; null: all
    credential bytea default null, client text default null, tool text default 'sql', request text default null,
    out chunks_removed integer,
    out source_removed boolean
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    home      integer;
    graph     text;
    origin    origin;
    former    record;
    piece     record;
    left_over jsonb;
    version   bigint;
begin
    select f.space_id, f.graph into home, graph from find_source(document, 'forget', credential, graphs) f;
    origin := open_graph(credential, graph, 'forget', client, tool, request);
    perform claim_removal();
    perform from entity e join document d on d.space_id = e.space_id and d.entity_id = e.id
    where e.space_id = home and d.id = document for update of e;
    version := next_change(home);
    select d.content, d.attributes, s.chunks into former
    from current_documents(home, 'source') d join source s on s.space_id = home and s.document_id = d.id where d.id = document;
    if former.content is null then
        raise exception using errcode = 'TR066', message = 'there is no such source';
    end if;
    if chunk_part is not null then
        select (c ->> 1)::integer as start, (c ->> 2)::integer as length into piece
        from jsonb_array_elements(former.attributes -> 'chunks') c where (c ->> 0)::integer = chunk_part;
        if not found then
            raise exception using errcode = 'TR067', message = 'the source has no such chunk', detail = chunk_part;
        end if;
        left_over := replaced_chunks(former.attributes -> 'chunks', piece.start, piece.length, 0);
    end if;
    source_removed := left_over is null;
    if source_removed then
        chunks_removed := former.chunks;
        perform erase_document(document, origin);
    else
        chunks_removed := former.chunks - jsonb_array_length(left_over);
        perform forget_range(
            document, version, overlay(former.content placing '' from piece.start + 1 for piece.length),
            -- The hash goes too, so that the same text can be stored again.
            former.attributes || jsonb_build_object('chunks', left_over, 'sha256', encode(sha256(uuid_send(document)), 'hex')),
            origin);
    end if;
end
$$;

comment on function textrawl.forget_source is
    'Delete a source for good, or one of its chunks with its text. The trail keeps the path. All former versions of the '
    'source are deleted too, because they contain the text. Errors: TR010, TR011 (access), TR066 (no such source), TR067 '
    '(no such chunk).';
