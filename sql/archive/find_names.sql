create function textrawl.find_names(space integer, names text[]) returns table (
    place bigint,  -- position in names, from 1
    id uuid
)
language sql stable
begin atomic
    select input.place, e.id from unnest(names) with ordinality input(name, place)
    join textrawl.entity e on e.space_id = find_names.space and e.name_key = textrawl.entity_key(find_names.space, input.name);
end;

comment on function textrawl.find_names is
    'The ids of the entities of a space that have the given names or aliases.';
