create function textrawl.end_edge(
    number bigint,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (
    outcome text,   -- ended, known (the relation had already ended) or missing
    from_entity text, relation text, to_entity text,  -- null if the caller cannot read the space
    inverse bigint  -- number of the inverse relation, if this call ended it too
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin       origin := open_write(credential, space, 'write', client, tool, request);
    claimed      uuid[];
    readable     boolean := may_read(credential, origin.space_id);
    edge         relation;
    inverse_edge relation;
    moment       timestamptz := clock_timestamp();
begin
    claimed := array(
        select e.id from entity e
        where e.space_id = origin.space_id and e.id in (
            select unnest(array[r.from_entity, r.to_entity]) from number_range(number) range
            join relation r on r.space_id = origin.space_id and r.id between range.first and range.last)
        order by e.name_key for no key update);
    select r.* into edge from number_range(number) range
    join relation r on r.space_id = origin.space_id and r.id between range.first and range.last
        and r.from_entity = any(claimed) and r.to_entity = any(claimed)
    order by r.id limit 1;
    if edge.id is null then
        return query select 'missing', null::text, null::text, null::text, null::bigint;
        return;
    end if;
    select r.* into inverse_edge from relation r
    where r.space_id = origin.space_id
      and r.from_entity = edge.to_entity and r.to_entity = edge.from_entity
      and is_valid(r.valid_from, r.valid_until, r.closed_at, present => moment)
      -- split_node() stores the Spanish names.
      and (edge.relation_type, r.relation_type) in (
        ('contiene', 'parte_de'), ('parte_de', 'contiene'), ('contains', 'part_of'), ('part_of', 'contains'))
    order by r.valid_until desc nulls first, r.id limit 1;
    outcome := case when is_valid(edge.valid_from, edge.valid_until, edge.closed_at, present => moment) then 'ended' else 'known' end;
    if outcome = 'ended' then
        perform end_relations(array[edge.id, inverse_edge.id], moment, origin);
    end if;
    return query
        select end_edge.outcome, case when readable then f.name end,
            case when readable then coalesce(edge.label, edge.relation_type) end, case when readable then t.name end,
            case when end_edge.outcome = 'ended' then node_number(inverse_edge.id) end
        from entity f, entity t
        where f.space_id = origin.space_id and f.id = edge.from_entity and t.space_id = origin.space_id and t.id = edge.to_entity;
end
$$;

comment on function textrawl.end_edge is
    'End the relation with the given node_number(). If its type is contains or part_of, the inverse relation ends too. '
    'Ended relations stay as history. Errors: TR010 to TR012 (access).';
