create function textrawl.changed_documents(
    since bigint default null,  -- null: all documents
    max_rows integer default 200,
    credential bytea default null, space integer default null
) returns table (
    kind text, path text, changed bigint,
    granularity text, date text, slug text, instance text,  -- of a journal entry
    content text,                                           -- null: the document was deleted
    label text, chat_ids text[], participants text[],
    number integer, created_at timestamptz, modified_at timestamptz, modified_by text,
    server_version bigint, remaining bigint                 -- number of changed documents after the last row
)
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    home integer := graph_space(credential, space);
begin
    return query
    with change as (
        select d.kind, d.path, d.changed, d.id, d.version, d.created_at
        from document d where d.space_id = home and d.changed > coalesce(since, 0) and d.kind not in ('item', 'log')
        union all
        select t.kind, t.path, t.changed, null, null, null
        from document_tombstone t where t.space_id = home and t.changed > coalesce(since, 0)
    ), page as (
        select c.*, count(*) over () as total, row_number() over (order by c.changed) as place
        from change c order by c.changed limit max_rows
    )
    select p.kind, p.path, p.changed,
        -- Of an entry that was deleted for good, only the path is left.
        case when p.kind = 'journal' then split_part(p.path, '/', 1) end,
        case when p.kind = 'journal' then split_part(p.path, '/', 2) end,
        coalesce(j.slug, case when p.path like 'significant/%/%' then split_part(p.path, '/', 3) end),
        coalesce(v.attributes ->> 'instance', j.instance_id, case when p.path like 'daily/%' then split_part(p.path, '/', 3) end),
        v.content, v.attributes ->> 'label',
        array(select jsonb_array_elements_text(v.attributes -> 'chat_ids')),
        array(select jsonb_array_elements_text(v.attributes -> 'participants')),
        v.number, p.created_at, v.modified_at, v.modified_by,
        coalesce((select c.version from document_clock c where c.space_id = home), 0), p.total - p.place
    from page p
    left join journal_entry j on j.space_id = home and j.document_id = p.id
    left join document_version v on v.space_id = home and v.document_id = p.id and v.version = p.version
    order by p.changed;
end
$$;

comment on function textrawl.changed_documents is
    'The documents that changed after a version of the space, in the order of their changes, and the documents that were '
    'deleted. Errors: TR010, TR011 (access). '
    'Example: select path, changed from textrawl.changed_documents(7);';
