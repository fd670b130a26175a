create or replace function textrawl_content.list_cells()
returns table (shard bigint, low integer, high integer, node integer, host text, port integer, placement bigint)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select d.shardid, d.shardminvalue::integer, d.shardmaxvalue::integer, n.nodeid, n.nodename, n.nodeport, p.placementid
    from pg_dist_shard d
    join pg_dist_placement p on p.shardid = d.shardid
    join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
    where d.logicalrelid = 'textrawl_content.entity'::regclass and p.shardstate = 1
    order by d.shardid
$$;

comment on function textrawl_content.list_cells is
    'The cells, each with the range of the hashes of its spaces, the node that it is on, and the number of its placement '
    'there. A move gives it a higher number.';
