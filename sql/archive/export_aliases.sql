create function textrawl.export_aliases(space integer)
returns table (
    kind text, space text, id uuid, entity uuid, name text,
    author text, client text, tool text, request text, created_at timestamptz
)
language sql stable
begin atomic
    select 'alias'::text, s.name, a.id, a.entity_id, a.name, w.name, a.client, a.tool, a.request, a.created_at
    from textrawl.entity_alias a
    join textrawl.space s on s.id = a.space_id
    join textrawl.actor w on w.id = a.author_id
    where a.space_id = export_aliases.space and a.removed_at is null
    order by a.space_id, a.id;
end;

comment on function textrawl.export_aliases is
    'Aliases of a space as lines of an export. The name of a merged entity is an alias like others, because the records '
    'of merges are not exported. '
    'Example: select row_to_json(a) from textrawl.export_aliases(1) a;';
