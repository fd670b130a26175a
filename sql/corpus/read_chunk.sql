create function textrawl.read_chunk(
    document uuid, chunk_part integer, credential bytea default null,
    graphs text[] default null,  -- only these graphs; null: all
    scope text default 'read',   -- needed in the graph
    out graph text, out label text, out path text, out content text, out tokens integer, out line integer
)
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    home integer;
begin
    select f.space_id, f.graph into home, graph from find_source(document, scope, credential, graphs) f;
    select s.label, d.path, o.content, c.tokens, c.line into label, path, content, tokens, line
    from document d
    join source s on s.space_id = home and s.document_id = d.id
    join fact o on o.space_id = home and o.entity_id = d.entity_id and o.whole = d.id and o.part = chunk_part
    join chunk c on c.space_id = home and c.observation_id = o.id
    where d.space_id = home and d.id = document;
    if content is null then
        raise exception using errcode = 'TR067', message = 'the source has no such chunk', detail = chunk_part;
    end if;
end
$$;

comment on function textrawl.read_chunk is
    'The text of one chunk, its source and its line. Errors: TR010, TR011 (access), TR066 (no such source), TR067 (no such '
    'chunk). '
    'Example: select content from textrawl.read_chunk(document, 1) from textrawl.source;';
