create function textrawl.entity_names(homes integer[], ids uuid[], spaces integer[] default null, credential bytea default null)
returns table (space_id integer, id uuid, name text, entity_type text, space text)
language sql stable security definer rows 500
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, entity_names.spaces) as allowed
    )
    select e.space_id, e.id, e.name, e.entity_type, s.name
    from scope, unnest(homes, ids) wanted (space_id, id)
    join textrawl.entity e on e.space_id = wanted.space_id and e.id = wanted.id
    join textrawl.space s on s.id = e.space_id
    where e.space_id = any(scope.allowed);
end;

comment on function textrawl.entity_names is
    'The names and types that entities have now, by the ids of their spaces and their own. Entities that were forgotten, or '
    'that you cannot read, are left out. Errors: TR010, TR011 (access). '
    'Example: select n.name from textrawl.entity e, textrawl.entity_names(array[e.space_id], array[e.id]) n limit 1;';
