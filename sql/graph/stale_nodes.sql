create function textrawl.stale_nodes(
    stale_days double precision default 90, moment timestamptz default clock_timestamp(), max_rows integer default 500,
    space integer default null, credential bytea default null
) returns table (
    name text, entity_type text,
    days double precision,  -- days since the last use; null if the entity was never used
    uses bigint, facts bigint
)
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.graph_space(credential, stale_nodes.space) as home
    ), with_uses as materialized (
        select e.name, textrawl.free_type(e.entity_type, e.metadata) as entity_type,
            (select max(u.last_at) from textrawl.entity_use u where u.space_id = e.space_id and u.entity_id = e.id) as last_at,
            coalesce((select sum(u.count) from textrawl.entity_use u where u.space_id = e.space_id and u.entity_id = e.id), 0) as uses,
            (select count(*) from textrawl.local_facts() o
             where o.space_id = e.space_id and o.entity_id = e.id
               and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at, present => moment)) as facts
        from textrawl.entity e where e.space_id = (select home from scope)
    )
    select u.name, u.entity_type, extract(epoch from moment - u.last_at)::double precision / 86400, u.uses, u.facts
    from with_uses u
    where u.facts > 0 and u.uses <= 2 and (u.last_at is null or u.last_at < moment - make_interval(secs => stale_days * 86400))
    order by u.last_at nulls first, u.name limit max_rows;
end;

comment on function textrawl.stale_nodes is
    'Entities that have facts but were in at most two answers of the graph tools, and in no answer of the last '
    'stale_days days. Entities that were in no answer come first. Errors: TR010, TR011 (access).';
