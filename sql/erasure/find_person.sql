create function textrawl.find_person(
    space integer, person text, also text[],
    out names text[],     -- the given names, and those of the person's entities
    out entities uuid[],  -- the entities that the person is, and those whose names contain a name of the person
    out actors integer[]  -- the actors that the person is
)
language plpgsql stable
set search_path from current
as $$
declare
    keys    text[] := array(select name_key(n) from unnest(person || also) n);
    persons uuid[] := array(
        select e.id from entity e where e.space_id = find_person.space and e.name_key = any(keys)
        union
        select a.entity_id from entity_alias a
        where a.space_id = find_person.space and a.name_key = any(keys) and a.removed_at is null
        union
        select g.entity_id from graph_node g where g.space_id = find_person.space and g.label_key = any(keys));
begin
    names := array(
        select n from unnest(person || also) n
        union
        select e.name from entity e where e.space_id = find_person.space and e.id = any(persons)
        union
        select a.name from entity_alias a
        where a.space_id = find_person.space and a.entity_id = any(persons) and a.removed_at is null
        union
        select g.label from graph_node g where g.space_id = find_person.space and g.entity_id = any(persons) and g.label is not null
        order by 1);
    entities := array(
        select e.id from entity e
        left join graph_node g on g.space_id = e.space_id and g.entity_id = e.id
        where e.space_id = find_person.space and (e.id = any(persons) or names_person(concat_ws(E'\n', e.name, g.label), person_pattern(names)))
        order by 1);
    actors := array(
        select a.id from actor a where name_key(a.name) = any(keys)
        union
        select o.actor_id from own_entity o where o.space_id = find_person.space and (o.entity_id = any(persons) or o.entity_id in (
            select a.id from entity_alias a where a.space_id = o.space_id and a.entity_id = any(persons)))
        order by 1);
end
$$;

comment on function textrawl.find_person is
    'The names, entities and actors of a person in a space, for an erasure. An entity is the person if it has one of the '
    'names, also as an alias or a label, and an actor if it has one of the given names, or is one of these entities.';
