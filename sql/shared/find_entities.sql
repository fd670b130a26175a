create function textrawl.find_entities(spaces integer[], name text) returns table (space_id integer, entity_id uuid)
language sql stable parallel safe
begin atomic
    select e.space_id, e.id from textrawl.entity e
    where e.space_id = any(spaces) and e.name_key = textrawl.name_key(find_entities.name)
    union all
    select a.space_id, a.entity_id from textrawl.entity_alias a
    where a.space_id = any(spaces) and a.name_key = textrawl.name_key(find_entities.name) and a.removed_at is null
    union all
    -- A name that looks like an id is one only if nothing has this name.
    select n.space_id, n.entity_id from textrawl.named_by_id(spaces, find_entities.name) n
    where textrawl.is_fact_id(find_entities.name)
      and not exists (select from textrawl.entity e where e.space_id = any(spaces) and e.name_key = textrawl.name_key(find_entities.name))
      and (select count(*) from textrawl.named_by_id(spaces, find_entities.name)) = 1
    union all
    select e.space_id, e.id from textrawl.entity e
    where e.space_id = any(spaces) and e.name_key = any(textrawl.name_spellings(textrawl.name_key(find_entities.name)))
      and not exists (
        select from textrawl.entity same where same.space_id = e.space_id and same.name_key = textrawl.name_key(find_entities.name));
end;

comment on function textrawl.find_entities is
    'The entities of several spaces that have this name or alias, at most one of each space. An id also names an entity. '
    'Example: select e.name from textrawl.find_entities(array[1], ''JMiller'') f join textrawl.entity e on e.id = f.entity_id;';
