create function textrawl.fetch_entity(
    entity uuid, spaces integer[] default null, credential bytea default null
) returns table (id uuid, space text, name text)
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, fetch_entity.spaces) as ids
    )
    select e.id, s.name, e.name
    from textrawl.entity e join textrawl.space s on s.id = e.space_id
    where e.space_id = any((select ids from scope)::integer[]) and e.id = fetch_entity.entity
    order by array_position((select ids from scope), e.space_id) limit 1;
end;

comment on function textrawl.fetch_entity is
    'The name and the space of the entity with this whole id, from the spaces that you can read. describe_entity() has its '
    'facts. An unknown id gives no row. Errors: TR010, TR011 (access), TR060 (a given space is a graph). '
    'Example: select name from textrawl.fetch_entity(gen_random_uuid());';
