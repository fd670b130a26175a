create function textrawl.find_names(space integer, names text[]) returns table (place bigint, id uuid)
language sql stable
set search_path from current
begin atomic
    select given.place, e.id from unnest(names) with ordinality given(name, place)
    join textrawl.entity e on e.space_id = find_names.space and e.name_key = textrawl.name_key(given.name);
end;

comment on function textrawl.find_names is 'Ids of the entities of a space that bear these names, by the place of the name from 1 on.';
