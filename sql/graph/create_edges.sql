create function textrawl.create_edges(
    relations jsonb,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (
    place bigint,   -- position in relations, from 1
    outcome text,   -- created, known (the relation exists already) or missing
    missing text[]  -- names of entities that do not exist
)
language plpgsql volatile security definer
set search_path from current
-- Plan once in each session, because planning takes longer than storing one relation.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
begin
    return query
        with edge as materialized (
            select * from claim_edges(relations, origin)
        ), complete as (
            select array_agg(e.place order by e.place) as places, array_agg(e.source order by e.place) as sources,
                array_agg(e.label order by e.place) as labels, array_agg(e.target order by e.place) as targets
            from edge e where e.missing = '{}'
        ), stored as (
            select c.places[s.position] as place, s.created
            from complete c
            cross join lateral store_relations(c.sources, c.labels, c.targets, origin, labelled => true)
                with ordinality s (id, created, position)
        )
        select e.place, case when s.place is null then 'missing' when s.created then 'created' else 'known' end, e.missing
        from edge e left join stored s on s.place = e.place
        order by e.place;
end
$$;

comment on function textrawl.create_edges is
    'Connect existing entities by relations [{from, relation, to}]. A relation is not stored if one of its entities '
    'is missing. Errors: TR010 to TR012 (access).';
