create function textrawl.present_items(space integer)
returns table (
    document_id uuid, namespace_id uuid, labels text[], key text, place bigint, content text, attributes jsonb, number integer,
    author_id integer, created_at timestamptz, updated_at timestamptz, expires_at timestamptz, fields jsonb, fts tsvector
)
language sql stable
begin atomic
    -- The function sets no options, so that the planner can inline it.
    select i.document_id, i.namespace_id, n.labels, i.key, i.position, v.content, v.attributes, v.number, v.author_id, i.created_at,
        i.updated_at, i.expires_at, i.fields, i.fts
    from textrawl.item i
    join textrawl.item_namespace n on n.space_id = i.space_id and n.id = i.namespace_id
    join textrawl.document d on d.space_id = i.space_id and d.id = i.document_id
    join textrawl.document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
    where i.space_id = present_items.space and i.present and textrawl.is_unexpired(i.expires_at);
end;

comment on function textrawl.present_items is
    'The items and the entries of logs of a space with their present values. Row-level security shows a session only the '
    'spaces that it can read. '
    'Example: select labels, key, content from textrawl.present_items(1);';
