create function textrawl.export_nodes(space integer)
returns table (type text, name text, "entityType" text, observations text[])
language sql stable
begin atomic
    select 'entity'::text, e.name, textrawl.free_type(e.entity_type, e.metadata), textrawl.list_observations(e.space_id, e.id)
    from textrawl.entity e
    where e.space_id = export_nodes.space
    order by e.space_id, e.created_at, e.id;
end;

comment on function textrawl.export_nodes is
    'Entities of a space with their valid facts, as lines in the file format of the reference memory server. '
    'Example: select row_to_json(n) from textrawl.export_nodes(1) n;';
