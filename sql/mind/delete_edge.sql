create function textrawl.delete_edge(
    edge uuid,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (edge_id uuid)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'forget', client, tool, request);
    moment timestamptz;
begin
    perform claim_live_edge(delete_edge.edge, origin);
    moment := clock_timestamp();
    perform end_relations(array[delete_edge.edge], moment, origin);
    perform describe_edge(delete_edge.edge, jsonb_build_object('deleted_at', moment), origin);
    return query select delete_edge.edge;
end
$$;

comment on function textrawl.delete_edge is
    'Delete an edge. Its relation ends now, and queries with as_of still find the relation. Undo revives both. Errors: '
    'TR083 (no such edge), TR010 to TR012 (access).';
