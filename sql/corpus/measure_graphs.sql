create function textrawl.measure_graphs(
    credential bytea default null,
    names text[] default null,    -- only these graphs; null: all
    dimensions integer default 0  -- of the vectors
) returns table (
    database text,
    bytes bigint  -- of texts, chunks and vectors, estimated
)
language sql stable security definer rows 1
set search_path from current
begin atomic
    -- The size of the whole database would tell how much other spaces and sensitive graphs hold.
    select current_database()::text,
        (coalesce(sum(v.bytes), 0) + coalesce(sum(s.tokens), 0) * 4 + coalesce(sum(s.chunks), 0) * 2 * dimensions)::bigint
    from textrawl.readable_graphs(credential, names) g
    join textrawl.source s on s.space_id = g.space_id
    left join lateral (
        select sum(pg_column_size(v.content)) as bytes from textrawl.document_version v
        where v.space_id = s.space_id and v.document_id = s.document_id) v on true;
end;

comment on function textrawl.measure_graphs is
    'The name of the database, and an estimate of the space on disk of the graphs that a caller can read. Sensitive graphs '
    'are left out. '
    'Example: select bytes from textrawl.measure_graphs(dimensions => 256);';
