create function textrawl.export_instances(space integer)
returns table (
    kind text, space text, id text, instance_type text, name text, version text, created_at timestamptz, last_sync timestamptz
)
language sql stable
begin atomic
    select 'instance'::text, s.name, i.id, i.instance_type, i.name, i.version, i.created_at, i.last_sync
    from textrawl.instance i
    join textrawl.space s on s.id = i.space_id
    where i.space_id = export_instances.space
    order by i.id;
end;

comment on function textrawl.export_instances is
    'Instances of a space as lines of an export. Example: select row_to_json(i) from textrawl.export_instances(1) i;';
