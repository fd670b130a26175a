create function textrawl.import_spaces(lines jsonb) returns table (place integer, stored integer, outcome text)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
begin
    perform require_owner();
    return query
    with given as materialized (
        select g.*, s.id as known
        from jsonb_to_recordset(lines) g(place integer, name text, created_at timestamptz, archived_at timestamptz)
        left join space s on s.name = g.name
    ), made as (
        insert into space (name, created_at, archived_at)
        select distinct on (g.name) g.name, g.created_at, g.archived_at
        from given g where g.known is null order by g.name, g.place
        returning id, name
    ), dated as (
        -- The first space comes with the memory: what is to live in it is older.
        update space s set created_at = g.created_at
        from given g
        where s.id = g.known and g.created_at < s.created_at
          and not exists (select from entity e where e.space_id = s.id)
    )
    select g.place, coalesce(g.known, m.id),
        case when g.known is null and g.place = min(g.place) over (partition by g.name) then 'added' else 'known' end
    from given g left join made m on m.name = g.name;
end
$$;

comment on function textrawl.import_spaces is
    'Makes the spaces of an export that are not there yet, by name; for each line its place, the id and added or known. Error TR013: not the owner.';
