create function textrawl.import_edge_values(lines jsonb) returns table (
    place integer,  -- number of the line in the file
    stored uuid,
    outcome text    -- added, known (the edge has values already), or homeless (the relation is missing)
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
begin
    perform require_owner();
    return query
    with input as materialized (
        select g.*, exists (select from relation r where r.space_id = g.space and r.id = g.id) as housed
        from jsonb_to_recordset(lines) g(
            place integer, space integer, id uuid, evidence text, properties jsonb, instance text,
            occurred_at timestamptz, last_confirmed_at timestamptz, version integer, deleted_at timestamptz)
    ), inserted as (
        insert into graph_edge as d (space_id, relation_id, evidence, properties, instance,
                                     occurred_at, last_confirmed_at, version, deleted_at)
        select distinct on (i.space, i.id)
            i.space, i.id, i.evidence, i.properties, i.instance, i.occurred_at, i.last_confirmed_at, i.version, i.deleted_at
        from input i where i.housed order by i.space, i.id, i.place
        on conflict do nothing
        returning d.space_id, d.relation_id
    )
    select i.place, i.id,
        case when not i.housed then 'homeless'
            when d.relation_id is not null and row_number() over (partition by i.space, i.id order by i.place) = 1 then 'added'
            else 'known' end
    from input i left join inserted d on d.space_id = i.space and d.relation_id = i.id;
end
$$;

comment on function textrawl.import_edge_values is
    'Import the values of edges, after the relations. Error TR013: not the owner.';
