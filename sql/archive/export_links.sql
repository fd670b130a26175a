create function textrawl.export_links(space integer)
returns table (
    kind text, space text, id uuid, from_memory uuid, to_memory uuid, relation text,
    strength double precision, metadata jsonb, created_at timestamptz
)
language sql stable
begin atomic
    select 'link'::text, s.name, l.id, l.from_id, l.to_id, l.relation_type, l.strength, l.metadata, l.created_at
    from textrawl.memory_link l
    join textrawl.space s on s.id = l.space_id
    where l.space_id = export_links.space
    order by l.space_id, l.id;
end;

comment on function textrawl.export_links is
    'Links between memories of a space as lines of an export. Example: select row_to_json(l) from textrawl.export_links(1) l;';
