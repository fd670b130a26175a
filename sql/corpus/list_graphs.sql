create function textrawl.list_graphs(
    credential bytea default null,
    names text[] default null  -- only these graphs; null: all
) returns table (
    name text, tier text, cap integer,
    writable boolean,
    sources bigint, chunks bigint, tokens bigint
)
language sql stable security definer
set search_path from current
begin atomic
    select g.name, g.tier, g.cap, 'write' = any(g.scopes), coalesce(s.sources, 0), coalesce(s.chunks, 0), coalesce(s.tokens, 0)
    from textrawl.readable_graphs(credential, names) g
    left join lateral (
        select count(*) as sources, sum(s.chunks) as chunks, sum(s.tokens)::bigint as tokens
        from textrawl.source s where s.space_id = g.space_id and s.content_hash is not null) s on true
    order by g.name;
end;

comment on function textrawl.list_graphs is
    'The graphs that a caller can read through a server, with their numbers of sources, chunks and tokens. Sensitive graphs '
    'are left out. '
    'Example: select name, chunks from textrawl.list_graphs();';
