create function textrawl.map_facts(
    x halfvec, y halfvec,  -- the directions of the vector space that become the axes
    width integer default 44, height integer default 28,  -- of the grid
    spaces integer[] default null, credential bytea default null
)
returns table (
    at_x real, at_y real,  -- the mean place of the facts of a cell, from -1 to 1; the mean of all facts is 0
    facts bigint, entities bigint,
    space_id integer, entity_id uuid, entity_type text  -- the entity with the most facts in the cell
)
language plpgsql stable security definer rows 500
set search_path from current
set jit = off
as $$
#variable_conflict use_column
declare
    model    integer := active_model();
    readable integer[] := readable_spaces(credential, map_facts.spaces);
begin
    return query
        with point as materialized (
            select o.space_id, o.entity_id, o.entity_type, -(v.vector <#> map_facts.x) as x, -(v.vector <#> map_facts.y) as y
            from fact o
            join embedding v on v.model_id = model and v.space_id = o.space_id and v.observation_id = o.id
            where o.space_id = any(readable) and is_valid(o.valid_from, o.valid_until, o.closed_at)
            limit 200000
        ), spread as (
            -- What lies further away than 2.2 standard deviations stands at the edge.
            select avg(x) as x, avg(y) as y, nullif(stddev(x), 0) * 2.2 as far_x, nullif(stddev(y), 0) * 2.2 as far_y from point
        ), placed as (
            select p.space_id, p.entity_id, p.entity_type,
                least(greatest(coalesce((p.x - s.x) / s.far_x, 0), -1), 1) as x,
                least(greatest(coalesce((p.y - s.y) / s.far_y, 0), -1), 1) as y
            from point p cross join spread s
        ), part as (
            select width_bucket(x, -1, 1.001, least(greatest(width, 1), 100)) as cell_x,
                width_bucket(y, -1, 1.001, least(greatest(height, 1), 100)) as cell_y,
                space_id, entity_id, entity_type, sum(x) as x, sum(y) as y, count(*) as facts
            from placed group by 1, 2, 3, 4, 5
        ), ranked as (
            select p.*, row_number() over (partition by cell_x, cell_y order by p.facts desc, p.entity_id) as rank,
                sum(p.x) over cell as all_x, sum(p.y) over cell as all_y, sum(p.facts) over cell as all_facts, count(*) over cell as all_entities
            from part p window cell as (partition by cell_x, cell_y)
        )
        select (r.all_x / r.all_facts)::real, (r.all_y / r.all_facts)::real, r.all_facts::bigint, r.all_entities, r.space_id, r.entity_id, r.entity_type
        from ranked r where r.rank = 1
        order by r.all_facts desc, r.entity_id;
end
$$;

comment on function textrawl.map_facts is
    'A map of the valid facts: their vectors of the active model, projected on two directions and counted in the cells of a '
    'grid, the fullest cell first. Empty without a model. Errors: TR010, TR011 (access). '
    'Example: select entity_type, facts from textrawl.sample_vectors(1) v, textrawl.map_facts(v, v);';
