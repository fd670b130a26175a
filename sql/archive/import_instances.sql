create function textrawl.import_instances(lines jsonb) returns table (
    place integer,  -- number of the line in the file
    stored uuid,    -- null
    outcome text    -- added, or known (by id)
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
begin
    perform require_owner();
    return query
    with input as materialized (
        select * from jsonb_to_recordset(lines) g(
            place integer, space integer, id text, instance_type text, name text, version text,
            created_at timestamptz, last_sync timestamptz)
    ), inserted as (
        insert into instance as i (space_id, id, instance_type, name, version, created_at, last_sync)
        select distinct on (g.space, g.id) g.space, g.id, g.instance_type, g.name, g.version, g.created_at, g.last_sync
        from input g order by g.space, g.id, g.place
        on conflict do nothing
        returning i.space_id, i.id
    )
    select g.place, null::uuid, case when n.id is null then 'known' else 'added' end
    from input g left join inserted n on n.space_id = g.space and n.id = g.id;
end
$$;

comment on function textrawl.import_instances is
    'Import the instances of an export. Error TR013: not the owner.';
