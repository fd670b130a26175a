create function textrawl.list_aliases(
    entity text default null, spaces integer[] default null, credential bytea default null,
    content text default null  -- only aliases that this text has, see said_aliases()
) returns table (
    space text, entity_name text, alias text,
    author text,      -- who added it
    merged boolean,   -- true: the former name of an entity that was merged into this one
    created_at timestamptz
)
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, list_aliases.spaces) as ids
    )
    select s.name, e.name, a.name, actor.name,
        exists (select from textrawl.merge m where m.space_id = a.space_id and m.merged_id = a.id), a.created_at
    from textrawl.entity_alias a
    join textrawl.local_entities() e on e.space_id = a.space_id and e.id = a.entity_id
    join textrawl.space s on s.id = a.space_id
    join textrawl.actor on actor.id = a.author_id
    where a.space_id = any((select ids from scope)::integer[]) and a.removed_at is null
      and (list_aliases.entity is null or (a.space_id, a.entity_id) in (
          select f.space_id, f.entity_id from textrawl.find_entities((select ids from scope)::integer[], list_aliases.entity) f))
      and (list_aliases.content is null or (a.space_id, a.entity_id, a.name) in (
          select * from textrawl.said_aliases((select ids from scope)::integer[], list_aliases.content)))
    order by s.name, e.name, a.created_at, a.name;
end;

comment on function textrawl.list_aliases is
    'The aliases of an entity, of all entities, or those that a text has. Errors: TR010, TR011 (access). '
    'Example: select entity_name, alias from textrawl.list_aliases();';
