create function textrawl.export_edge_values(space integer)
returns table (
    kind text, space text, id uuid, evidence text, properties jsonb, instance text,
    occurred_at timestamptz, last_confirmed_at timestamptz, version integer, deleted_at timestamptz
)
language sql stable
begin atomic
    select 'edge'::text, s.name, d.relation_id, d.evidence, d.properties, d.instance,
        d.occurred_at, d.last_confirmed_at, d.version, d.deleted_at
    from textrawl.graph_edge d
    join textrawl.space s on s.id = d.space_id
    where d.space_id = export_edge_values.space
    order by d.space_id, d.relation_id;
end;

comment on function textrawl.export_edge_values is
    'The values of the edges of a space that their relations do not have, as lines of an export. '
    'Example: select row_to_json(d) from textrawl.export_edge_values(1) d;';
