create function textrawl.list_nodes(
    type text default null,         -- null: all types; upper and lower case are the same
    deleted boolean default false,  -- true: also deleted nodes
    max_rows integer default 100, skip integer default 0,
    credential bytea default null, space integer default null
) returns table (node_id uuid, label text, node_type text, total bigint)
language sql stable security definer rows 100
set search_path from current
begin atomic
    with home as materialized (
        select textrawl.graph_space(credential, list_nodes.space) as id
    ), kind as materialized (
        -- Call name_key() once for each type, because the call takes longer than reading an entity.
        select k.name
        from (select distinct textrawl.free_type(e.entity_type, e.metadata) as name from textrawl.local_entities() e
              where list_nodes.type is not null and e.space_id = (select id from home)) k
        where textrawl.name_key(k.name) = textrawl.name_key(list_nodes.type)
    ), chosen as materialized (
        select e.id, e.updated_at from textrawl.local_entities() e
        left join textrawl.graph_node n on n.space_id = e.space_id and n.entity_id = e.id
        where e.space_id = (select id from home) and (list_nodes.deleted or n.deleted_at is null)
          and (list_nodes.type is null or textrawl.free_type(e.entity_type, e.metadata) in (select name from kind))
    )
    select s.entity_id, s.label, s.node_type, (select count(*) from chosen)
    from (select * from chosen order by updated_at desc, id limit list_nodes.max_rows offset list_nodes.skip) c
    -- The planner inlines a function only if its arguments are no subqueries.
    cross join home
    cross join lateral (select * from textrawl.node_states(home.id) n where n.entity_id = c.id offset 0) s
    order by c.updated_at desc, c.id;
end;

comment on function textrawl.list_nodes is
    'A page of the nodes of a space, the last updated first. `total` is the number of nodes on all pages. Errors: '
    'TR010, TR011 (access). '
    'Example: select label, node_type, total from textrawl.list_nodes(''person'');';
