create function textrawl.entity_key(space integer, name text) returns text
language plpgsql stable parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    wanted text := name_key(entity_key.name);
    others text[] := name_spellings(wanted);
    -- Look among the aliases only. A key is never both an alias and the key of an entity.
    named  text := (
        select e.name_key from entity_alias a
        join entity e on e.space_id = a.space_id and e.id = a.entity_id
        where a.space_id = entity_key.space and a.name_key = wanted and a.removed_at is null);
begin
    if named is null and is_fact_id(entity_key.name)
            and not exists (select from entity e where e.space_id = entity_key.space and e.name_key = wanted) then
        named := (
            select min(e.name_key) from named_by_id(array[entity_key.space], entity_key.name) n
            join entity e on e.space_id = n.space_id and e.id = n.entity_id having count(*) = 1);
    end if;
    if named is null and others <> '{}'
            and not exists (select from entity e where e.space_id = entity_key.space and e.name_key = wanted) then
        named := (
            select min(e.name_key) from entity e
            where e.space_id = entity_key.space and e.name_key = any(others));
    end if;
    return coalesce(named, wanted);
end
$$;

comment on function textrawl.entity_key is
    'The name_key() of the entity that a name, an alias or an id belongs to. If it belongs to no entity: the name_key() of the '
    'given name, or that of an entity with another of its name_spellings(). Functions that look up an entity of one space by name compare entity.name_key with this. '
    'Example: select textrawl.entity_key(1, ''JMiller'');';
