create function textrawl.is_local(space integer, entity uuid) returns boolean
language sql stable parallel safe
begin atomic
    select exists (select from textrawl.local_facts() o where o.space_id = space and o.entity_id = entity)
        or not exists (select from textrawl.fact o where o.space_id = space and o.entity_id = entity);
end;

comment on function textrawl.is_local is
    'True if an entity has one of local_facts(), or no fact at all. '
    'Example: select textrawl.is_local(e.space_id, e.id) from textrawl.entity e;';
