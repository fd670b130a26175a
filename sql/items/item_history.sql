create function textrawl.item_history(
    namespace text[], key text, credential bytea default null, space integer default null
) returns table (
    space_name text, namespace text[], key text,
    value json, metadata json, version integer, created_at timestamptz, updated_at timestamptz, expires_at timestamptz, author text,
    deleted boolean  -- true: this version deleted the item, and has no value
)
language sql stable security definer rows 10
set search_path from current
begin atomic
    select s.name, n.labels, i.key, v.content::json, (v.attributes ->> 'metadata')::json, v.number, v.created_at, v.modified_at,
        case when v.version = d.version then i.expires_at end, a.name, v.content is null
    from textrawl.space s
    join textrawl.item_namespace n on n.space_id = s.id and n.labels = item_history.namespace
    join textrawl.item i on i.space_id = n.space_id and i.namespace_id = n.id and i.key = item_history.key and textrawl.is_unexpired(i.expires_at)
    join textrawl.document d on d.space_id = i.space_id and d.id = i.document_id
    join textrawl.document_version v on v.space_id = i.space_id and v.document_id = i.document_id
    join textrawl.actor a on a.id = v.author_id
    where s.id = (select textrawl.graph_space(credential, space))
    order by v.number desc;
end;

comment on function textrawl.item_history is
    'All stored values of a key, the newest first, also of an item that was deleted. Former values stay until '
    'prune_documents() deletes them. Errors: TR010, TR011 (access). '
    'Example: select version, author, value from textrawl.item_history(array[''users'', ''ada''], ''tea'');';
