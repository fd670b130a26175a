create function textrawl.update_edge(
    edge uuid,
    fields jsonb,  -- the values to change: columns of the table graph_edge, strength and valid_until
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (readable boolean)  -- true: the caller can read the space
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
begin
    perform claim_live_edge(update_edge.edge, origin);
    if fields ? 'valid_until' and is_valid(null, (fields ->> 'valid_until')::timestamptz, null, present => clock_timestamp())
       and exists (
            select from relation r
            join relation other on other.space_id = r.space_id and other.id <> r.id and other.from_entity = r.from_entity
                and other.to_entity = r.to_entity and other.relation_type = r.relation_type
            where r.space_id = origin.space_id and r.id = update_edge.edge
              and is_valid(other.valid_from, other.valid_until, other.closed_at, present => clock_timestamp())) then
        raise exception using errcode = 'TR082', message = 'another valid edge of this type connects the same nodes';
    end if;
    perform describe_edge(update_edge.edge, fields, origin);
    return query select may_read(credential, origin.space_id);
end
$$;

comment on function textrawl.update_edge is
    'Change values of an edge. Its version increases by one, and properties are replaced as a whole. Errors: TR083 (no '
    'such edge), TR082 (another valid edge connects the same nodes), TR010 to TR012 (access).';
