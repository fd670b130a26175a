create function textrawl.export_reflections(space integer)
returns table (
    kind text, space text, id uuid, target_type text, entity uuid, edge uuid, text text, voice text, mood text,
    author text, client text, tool text, request text, created_at timestamptz
)
language sql stable
begin atomic
    select 'reflection'::text, s.name, f.id, f.target_type, f.entity_id, f.relation_id, f.content, f.voice, f.mood,
        a.name, f.client, f.tool, f.request, f.created_at
    from textrawl.reflection f
    join textrawl.space s on s.id = f.space_id
    join textrawl.actor a on a.id = f.author_id
    where f.space_id = export_reflections.space
    order by f.space_id, f.id;
end;

comment on function textrawl.export_reflections is
    'Reflections of a space as lines of an export. Example: select row_to_json(f) from textrawl.export_reflections(1) f;';
