create function textrawl.own_entities(spaces integer[] default null, credential bytea default null)
returns table (space text, entity_id uuid, entity_name text, entity_type text)
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, own_entities.spaces) as ids
    ), mine as materialized (
        select r.space_id, coalesce(r.actor_id, (select a.id from textrawl.actor a where a.name = session_user)) as actor_id
        from textrawl.access_rights(credential) r
        where r.space_id = any((select ids from scope)::integer[])
    )
    select s.name, e.id, e.name, textrawl.free_type(e.entity_type, e.metadata)
    from mine m
    join textrawl.own_entity o on o.space_id = m.space_id and o.actor_id = m.actor_id
    -- The alias that a merge made has the id of the merged entity.
    left join textrawl.entity_alias a on a.space_id = o.space_id and a.id = o.entity_id
    join textrawl.entity e on e.space_id = o.space_id and e.id = coalesce(a.entity_id, o.entity_id)
    join textrawl.space s on s.id = o.space_id
    order by s.name;
end;

comment on function textrawl.own_entities is
    'The entity that the caller is, at most one of each space that the caller can read. Errors: TR010, TR011 (access). '
    'Example: select space, entity_name from textrawl.own_entities();';
