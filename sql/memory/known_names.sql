create function textrawl.known_names(keys text[], spaces integer[] default null, credential bytea default null)
returns table (name_key text)
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, known_names.spaces) as ids
    )
    select e.name_key from textrawl.entity e
    where e.space_id = any((select ids from scope)::integer[]) and e.name_key = any(keys)
    union
    select a.name_key from textrawl.entity_alias a
    where a.space_id = any((select ids from scope)::integer[]) and a.name_key = any(keys) and a.removed_at is null;
end;

comment on function textrawl.known_names is
    'The names among `keys` that an entity has, also as an alias. They are given and returned in the form of name_key(). '
    'Errors: TR010, TR011 (access). '
    'Example: select * from textrawl.known_names(array[''jeff'', ''nobody'']);';
