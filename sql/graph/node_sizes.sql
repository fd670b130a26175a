create function textrawl.node_sizes(
    entity text default null, larger boolean default false,
    space integer default null, credential bytea default null
) returns table (number bigint, name text, entity_type text, facts bigint, threshold integer, observations text[])
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.graph_space(credential, node_sizes.space) as place
    ), sized as (
        select e.space_id, e.id, e.name, coalesce(e.metadata ->> 'type', e.entity_type) as entity_type,
            (select count(*) from textrawl.observation o
             where o.space_id = e.space_id and o.entity_id = e.id and (o.valid_until is null or o.valid_until > clock_timestamp())) as facts
        from textrawl.entity e
        where e.space_id = (select place from scope) and (entity is null or e.name_key = textrawl.name_key(entity))
    )
    select textrawl.node_number(s.id), s.name, s.entity_type, s.facts, textrawl.split_threshold(s.entity_type),
        textrawl.list_observations(s.space_id, s.id)
    from sized s
    where not larger or s.facts > textrawl.split_threshold(s.entity_type)
    order by s.facts desc, s.name limit 200;
end;

comment on function textrawl.node_sizes is
    'Entities with their facts and how many they should have at most: the one of a name, or those that are larger. Errors: TR010, TR011 (access). Example: select name, facts, threshold from textrawl.node_sizes(larger => true);';
