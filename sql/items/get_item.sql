create function textrawl.get_item(
    namespace text[], key text,
    version integer default null,  -- null: the present one
    credential bytea default null, space integer default null
) returns table (
    space_name text, namespace text[], key text, value json, metadata json, version integer, created_at timestamptz,
    updated_at timestamptz, expires_at timestamptz, author text
)
language sql stable security definer rows 1
set search_path from current
begin atomic
    select s.name, n.labels, i.key, v.content::json, (v.attributes ->> 'metadata')::json, v.number, coalesce(i.created_at, v.created_at),
        v.modified_at, i.expires_at, a.name
    from textrawl.space s
    join textrawl.item_namespace n on n.space_id = s.id and n.labels = get_item.namespace
    join textrawl.item i on i.space_id = n.space_id and i.namespace_id = n.id and i.key = get_item.key and textrawl.is_unexpired(i.expires_at)
    join textrawl.document d on d.space_id = i.space_id and d.id = i.document_id
    join textrawl.document_version v on v.space_id = d.space_id and v.document_id = d.id
    join textrawl.actor a on a.id = v.author_id
    where s.id = (select textrawl.graph_space(credential, space)) and v.content is not null
      and case when get_item.version is null then v.version = d.version else v.number = get_item.version end;
end;

comment on function textrawl.get_item is
    'The present value of an item, or a former one by its number. Nothing if there is none, or if the item has expired. '
    'Errors: TR010, TR011 (access). '
    'Example: select value from textrawl.get_item(array[''users'', ''ada''], ''tea'');';
