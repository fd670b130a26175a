create function textrawl.placed_items(places json, space integer)
returns table (
    document_id uuid,
    wanted integer,  -- `version` of the place
    held integer,    -- number of the present version; 0: it is deleted or has expired; null: there never was one
    author_id integer, request text  -- of the last version
)
language sql stable
begin atomic
    select i.document_id, p.version,
        case when i.present and textrawl.is_unexpired(i.expires_at) then v.number when i.document_id is not null then 0 end,
        v.author_id, v.request
    from textrawl.read_puts(places) p
    left join (
        textrawl.item_namespace n
        join textrawl.item i on i.space_id = n.space_id and i.namespace_id = n.id
        join textrawl.document d on d.space_id = i.space_id and d.id = i.document_id
        left join textrawl.document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version)
      on n.space_id = placed_items.space and i.key = p.key and n.labels = p.namespace;
end;

comment on function textrawl.placed_items is
    'The items at the places of put_items(): a list of {namespace, key, version}. '
    'Example: select held from textrawl.placed_items(''[{"namespace": ["users", "ada"], "key": "tea"}]'', 1);';
