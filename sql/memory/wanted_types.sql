create function textrawl.wanted_types(types text[], spaces integer[]) returns text[]
language sql stable parallel safe
begin atomic
    select case when types is null or types <@ array['person', 'concept', 'project', 'preference', 'fact', 'location', 'organization'] then types
        else array(
            select t.type from unnest(types) as t (type)
            union
            select e.entity_type from textrawl.entity e
            where e.space_id = any(spaces) and lower(textrawl.free_type(e.entity_type, e.metadata)) = any(types)) end;
end;

comment on function textrawl.wanted_types is
    'The types of a filter, with the one of the seven that each entity has that is of another type in the filter.';
