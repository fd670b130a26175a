create function textrawl.list_observations(space integer, entity uuid) returns text[]
language sql stable
set search_path from current
begin atomic
    select coalesce(array_agg(o.content order by o.created_at, o.id), '{}') from textrawl.observation o
    where o.space_id = space and o.entity_id = entity
      and textrawl.is_valid(o.valid_from, o.valid_until);
end;

comment on function textrawl.list_observations is 'The valid facts of an entity, first told first.';
