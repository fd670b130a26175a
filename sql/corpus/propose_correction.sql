create function textrawl.propose_correction(
    document uuid, chunk_part integer,
    original text,  -- text of the chunk from which the proposed text was made
    proposed text,
    proposal text,  -- what should change, in the words of the caller
    tokens integer default null,  -- of the proposed text; null: as many as it has bytes, which is never too few
    mode text default 'llm',  -- llm or deterministic
    minutes integer default 10,  -- for which the correction can be applied
    graphs text[] default null,  -- only these graphs; null: all
    credential bytea default null, client text default null, tool text default 'sql', request text default null,
    out id uuid, out apply_until timestamptz
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    graph  text := (select f.graph from find_source(document, 'write', credential, graphs) f);
    origin origin := open_graph(credential, graph, 'write', client, tool, request);
begin
    if original is distinct from (select r.content from read_chunk(document, chunk_part, credential, graphs) r) then
        raise exception using errcode = 'TR069', message = 'the chunk was changed meanwhile';
    elsif coalesce(char_length(proposed), 0) not between 1 and 8000 or proposed = original then
        raise exception using errcode = 'TR065', message = 'the source has a wrong form';
    end if;
    delete from correction c
    where c.space_id = origin.space_id and c.applied_at is null and c.created_at < clock_timestamp() - interval '1 day';
    apply_until := clock_timestamp() + make_interval(mins => least(greatest(minutes, 0), 60));
    insert into correction as c (space_id, document_id, part, proposal, original_text, proposed_text, tokens, mode, author_id,
                                 client, request, apply_until)
    values (origin.space_id, document, chunk_part, proposal, original, proposed, coalesce(tokens, octet_length(proposed)), mode,
            origin.author_id, client, request, apply_until)
    returning c.id into id;
end
$$;

comment on function textrawl.propose_correction is
    'Store a proposed correction of a chunk. The chunk does not change. The correction can be applied for ten minutes. '
    'Errors: TR010, TR011 (access), TR065 (the proposed text is empty, longer than 8,000 characters or the same), TR066 (no '
    'such source), TR067 (no such chunk), TR069 (the chunk was changed meanwhile).';
