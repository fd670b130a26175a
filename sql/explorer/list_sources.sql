create function textrawl.list_sources(
    graph text, max_rows integer default 50, skip integer default 0, credential bytea default null,
    graphs text[] default null  -- only these graphs can be read; null: all
) returns table (
    document_id uuid, path text, label text, kind text, chunks integer, tokens bigint, updated_at timestamptz,
    total bigint  -- number of sources on all pages
)
language sql stable security definer rows 50
set search_path from current
begin atomic
    with page as (
        select d.id, d.path, d.version, s.space_id, s.label, s.source_kind, s.chunks, s.tokens, count(*) over () as total
        from textrawl.readable_graphs(credential, graphs) g
        join textrawl.source s on s.space_id = g.space_id and s.content_hash is not null
        join textrawl.document d on d.space_id = s.space_id and d.id = s.document_id
        where g.name = list_sources.graph
        order by d.path limit max_rows offset skip
    )
    select p.id, p.path, p.label, p.source_kind, p.chunks, p.tokens, v.modified_at, p.total
    from page p
    join textrawl.document_version v on v.space_id = p.space_id and v.document_id = p.id and v.version = p.version
    order by p.path;
end;

comment on function textrawl.list_sources is
    'A page of the sources of a graph, by path. A graph that you cannot read, or that no server shows, has no row. '
    'Errors: none. '
    'Example: select label, chunks from textrawl.list_sources(''handbook'');';
