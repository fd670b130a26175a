create function textrawl.list_graphs(
    credential bytea default null,
    names text[] default null,        -- only these graphs; null: all
    sensitive boolean default false   -- true: a person, not an MCP client, asks, so sensitive graphs are included
) returns table (
    name text, tier text, cap integer,
    writable boolean,
    sources bigint, chunks bigint, tokens bigint
)
language sql stable security definer
set search_path from current
begin atomic
    select g.name, g.tier, textrawl.recall_cap(g.tier, g.recall_tokens), 'write' = any(r.scopes),
        coalesce(s.sources, 0) + (select count(*) from textrawl.encrypted_document d where d.space_id = g.id),
        coalesce(s.chunks, 0), coalesce(s.tokens, 0)
    from textrawl.access_rights(credential) r
    join textrawl.space g on g.id = r.space_id
    left join lateral (
        select count(*) as sources, sum(s.chunks) as chunks, sum(s.tokens)::bigint as tokens
        from textrawl.source s where s.space_id = g.id and s.content_hash is not null) s on true
    where (g.tier in ('public', 'personal') or list_graphs.sensitive and g.tier = 'sensitive') and 'read' = any(r.scopes)
      and (list_graphs.names is null or g.name = any(list_graphs.names))
    order by g.name;
end;

comment on function textrawl.list_graphs is
    'The graphs that a caller can read, with their numbers of sources, chunks and tokens. Sensitive graphs are left out, '
    'except for a person. '
    'Example: select name, chunks from textrawl.list_graphs();';
