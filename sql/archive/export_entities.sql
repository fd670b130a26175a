create function textrawl.export_entities(space integer)
returns table (
    kind text, space text, id uuid, name text, entity_type text, type_guessed boolean, description text, metadata jsonb,
    created_at timestamptz, updated_at timestamptz
)
language sql stable
begin atomic
    -- Leave out `retyped`, because it refers to events, which are not exported. Sort by the primary key, which is the
    -- same in every memory that imports the file.
    select 'entity'::text, s.name, e.id, e.name, e.entity_type, nullif(e.type_guessed, false), e.description,
        e.metadata - 'retyped', e.created_at, e.updated_at
    from textrawl.entity e join textrawl.space s on s.id = e.space_id
    where e.space_id = export_entities.space
    order by e.space_id, e.id;
end;

comment on function textrawl.export_entities is
    'Entities of a space as lines of an export. '
    'Example: select row_to_json(e) from textrawl.export_entities(1) e;';
