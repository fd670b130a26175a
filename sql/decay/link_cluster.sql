create function textrawl.link_cluster(
    memories uuid[], strength double precision default 1,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    moment timestamptz default clock_timestamp(),
    out linked bigint  -- number of new links
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
begin
    insert into memory_link (space_id, from_id, to_id, relation_type, strength, created_at)
    select origin.space_id, one.id, other.id, 'related', link_cluster.strength, link_cluster.moment
    from fact one join fact other on other.space_id = one.space_id and other.id <> one.id
    where one.space_id = origin.space_id and one.id = any(memories) and other.id = any(memories)
    order by one.id, other.id
    on conflict do nothing;
    get diagnostics linked = row_count;
    if linked > 0 then
        perform record_event('linked', null, null, null, origin, jsonb_build_object('memories', memories, 'links', linked));
    end if;
end
$$;

comment on function textrawl.link_cluster is
    'Link each of the given memories with each other, in both directions, as related. Errors: TR010 to TR012 (access). '
    'Example: select linked from textrawl.link_cluster(array(select memory_id from textrawl.comparable_memories()));';
