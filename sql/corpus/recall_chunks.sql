create function textrawl.recall_chunks(
    query text,
    graphs text[] default null,         -- only these graphs; null: all
    max_rows integer default 8,
    min_score double precision default 0.4,
    ceiling integer default 8000,       -- most tokens of all graphs together
    model integer default null, vector halfvec default null,
    credential bytea default null
) returns table (
    document_id uuid, part integer, graph text, label text, path text, line integer,
    content text,     -- null if `over_cap`
    tokens integer, score real, updated_at timestamptz,
    observation_id uuid, space_id integer,
    over_cap boolean  -- true: the text was left out, because the answer would exceed the cap of its graph or the ceiling
)
language sql stable security definer rows 8
set search_path from current
begin atomic
    select m.document_id, m.part, m.space, s.label, d.path, m.line, m.content, m.tokens, m.score,
        v.modified_at, m.observation_id, m.space_id, m.over_cap
    from textrawl.search_memory(
        recall_chunks.query, credential => recall_chunks.credential, sources => array['documents'],
        graphs => recall_chunks.graphs, max_rows => recall_chunks.max_rows, least_score => recall_chunks.min_score,
        ceiling => recall_chunks.ceiling, model => recall_chunks.model, vector => recall_chunks.vector) m
    join textrawl.document d on d.space_id = m.space_id and d.id = m.document_id
    join textrawl.source s on s.space_id = d.space_id and s.document_id = d.id
    join textrawl.document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
    order by m.score desc, m.created_at desc, m.observation_id;
end;

comment on function textrawl.recall_chunks is
    'Search the chunks of graphs by words and by meaning, the best first. The score is that of search_memory(). From the '
    'first chunk on that exceeds the cap of its graph (or the ceiling of the answer), the chunks of the graph (or of all '
    'graphs) are left out. Nothing of sensitive graphs is returned. Errors: TR010 (access), TR049 (the model was dropped). '
    'Example: select label, line, content from textrawl.recall_chunks(''how to deploy'');';
