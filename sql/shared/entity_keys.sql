create function textrawl.entity_keys(space integer, name text) returns text[]
language sql stable parallel safe
begin atomic
    select array(
        select textrawl.entity_key(entity_keys.space, entity_keys.name)
        union
        select a.name_key from textrawl.entity_alias a
        join textrawl.entity e on e.space_id = a.space_id and e.id = a.entity_id
        where a.space_id = entity_keys.space and e.name_key = textrawl.entity_key(entity_keys.space, entity_keys.name)
        order by 1);
end;

comment on function textrawl.entity_keys is
    'The name_key() of the name and of all aliases of the entity that has this name or alias, removed aliases included. '
    'If no entity has it: the name_key() of the given name. '
    'Example: select textrawl.entity_keys(1, ''Jeff'');';
