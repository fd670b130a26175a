create function textrawl.write_edge(
    from_node uuid, to_node uuid, type text,
    fields jsonb default '{}',  -- columns of the table graph_edge, strength and valid_until
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (
    edge_id uuid,
    created boolean,  -- false: a valid edge of this type connects the nodes already
    readable boolean  -- true: the caller can read the space
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin  origin := open_write(credential, space, 'write', client, tool, request);
    missing uuid;
begin
    -- Lock the entities in the order of their names, as all writers do.
    perform from entity e
    where e.space_id = origin.space_id and e.id in (from_node, to_node) order by e.name_key for no key update;
    select g.id into missing from unnest(array[from_node, to_node]) g(id)
    where not exists (select from node_states(origin.space_id) s where s.entity_id = g.id and s.deleted_at is null) limit 1;
    if missing is not null then
        raise exception using errcode = 'TR080', message = 'no such node', detail = missing::text;
    end if;
    return query
        select s.relation_id, s.created, may_read(credential, origin.space_id)
        from store_edge(from_node, to_node, write_edge.type, fields, origin) s;
end
$$;

comment on function textrawl.write_edge is
    'Connect two nodes. If a valid edge of this type connects them already, the edge gets the larger weight and the values '
    'that are given, and is confirmed. Errors: TR080 (no such node; the detail is its id), TR010 to TR012 (access).';
