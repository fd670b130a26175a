create function textrawl.import_spaces(lines jsonb) returns table (
    place integer,  -- of the line in the file
    stored integer,
    outcome text    -- added or known
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
begin
    perform require_owner();
    return query
    with input as materialized (
        select g.*, s.id as existing
        from jsonb_to_recordset(lines) g(place integer, name text, created_at timestamptz, archived_at timestamptz)
        left join space s on s.name = g.name
    ), inserted as (
        insert into space (name, created_at, archived_at)
        select distinct on (g.name) g.name, g.created_at, g.archived_at
        from input g where g.existing is null order by g.name, g.place
        returning id, name
    ), dated as (
        -- The first space exists before the import, so it takes the earlier date of the file.
        update space s set created_at = g.created_at
        from input g
        where s.id = g.existing and g.created_at < s.created_at
          and not exists (select from entity e where e.space_id = s.id)
    )
    select g.place, coalesce(g.existing, m.id),
        case when g.existing is null and g.place = min(g.place) over (partition by g.name) then 'added' else 'known' end
    from input g left join inserted m on m.name = g.name;
end
$$;

comment on function textrawl.import_spaces is
    'Create the spaces of an export that do not exist yet, by name. Error TR013: not the owner.';
