create function textrawl.traverse_graph(
    start uuid,
    direction text default 'out',  -- out, in or both
    max_depth integer default 2,
    types text[] default null,     -- types of edges to follow; null: all
    max_rows integer default 50,
    credential bytea default null, space integer default null
) returns table (
    node_id uuid,
    path uuid[],   -- the edges from the start to the node
    depth integer
)
language plpgsql stable security definer rows 50
set search_path from current
as $$
#variable_conflict use_column
declare
    home     integer := graph_space(credential, space);
    wanted   text[] := (select array_agg(relation_key(t)) from unnest(types) t);
    visited  uuid[] := array[start];
    frontier uuid[] := array[start];
    paths    text[] := array[''];
    reached  record;
begin
    perform from node_states(home) s where s.entity_id = start and s.deleted_at is null;
    depth := case when found then 0 else max_depth end;
    while depth < max_depth and cardinality(frontier) > 0 loop
        depth := depth + 1;
        -- If several edges reach a node, keep the edge from the first node of the level before, and of these the strongest.
        select coalesce(array_agg(f.node order by f.place, f.strength desc, f.edge), '{}') as nodes,
            array_agg(concat_ws(',', nullif(paths[f.place], ''), f.edge) order by f.place, f.strength desc, f.edge) as paths
        into reached
        from (
            select first.* from (
                select distinct on (hop.node) hop.node, hop.edge, hop.strength, f.place
                from unnest(frontier) with ordinality f(id, place)
                cross join lateral (
                    select r.to_entity as node, r.id as edge, r.strength from local_relations() r
                    where direction in ('out', 'both') and r.space_id = home and r.from_entity = f.id
                      and is_valid(r.valid_from, r.valid_until, r.closed_at) and (wanted is null or r.relation_type = any(wanted))
                    union all
                    select r.from_entity, r.id, r.strength from local_relations() r
                    where direction in ('in', 'both') and r.space_id = home and r.to_entity = f.id
                      and is_valid(r.valid_from, r.valid_until, r.closed_at) and (wanted is null or r.relation_type = any(wanted))) hop
                where hop.node <> all(visited) and not exists (
                    select from graph_node n where n.space_id = home and n.entity_id = hop.node and n.deleted_at is not null)
                order by hop.node, f.place, hop.strength desc, hop.edge) first
            order by first.place, first.strength desc, first.edge limit max_rows + 1 - cardinality(visited)) f;
        frontier := reached.nodes; paths := reached.paths; visited := visited || frontier;
        return query
            select n.id, string_to_array(n.path, ',')::uuid[], traverse_graph.depth
            from unnest(frontier, paths) with ordinality n(id, path, place) order by n.place;
    end loop;
end
$$;

comment on function textrawl.traverse_graph is
    'The nodes that valid edges connect with a node, the nearest first, each with one shortest path. If there are '
    'several, the path follows the order of the nodes before, and then the strongest edge. No rows if there is no such '
    'node. Errors: TR010, TR011 (access). '
    'Example: select n.label, t.depth from textrawl.entity e, textrawl.traverse_graph(e.id) t, '
    'textrawl.fetch_nodes(array[t.node_id]) n where e.name = ''Ada'';';
