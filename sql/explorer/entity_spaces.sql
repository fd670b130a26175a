create function textrawl.entity_spaces(
    entity text, spaces integer[] default null, credential bytea default null
) returns table (
    space text,
    name text  -- of the entity there, which can differ from the given name if that is an alias
)
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, entity_spaces.spaces) as ids
    )
    select s.name, e.name
    from textrawl.find_entities((select ids from scope)::integer[], entity_spaces.entity) f
    join textrawl.entity e on e.space_id = f.space_id and e.id = f.entity_id
    join textrawl.space s on s.id = e.space_id
    order by array_position((select ids from scope), e.space_id);
end;

comment on function textrawl.entity_spaces is
    'The spaces with an entity of this name or alias, and its name there, of all spaces that you can read, home space '
    'first. An unknown name gives no row. Errors: TR010, TR011 (access), TR060 (a given space is a graph). '
    'Example: select space, name from textrawl.entity_spaces(''Jeff'');';
