create function textrawl.list_observations(
    space integer, entity uuid,
    everywhere boolean default false  -- true: not only local_facts()
) returns text[]
language sql stable
begin atomic
    select coalesce(array_agg(observation.content order by observation.at, observation.id), '{}')
    from (
        select string_agg(o.content, '' order by o.part) as content, min(o.created_at) as at, coalesce(o.whole, o.id) as id
        from textrawl.fact o
        where o.space_id = space and o.entity_id = entity
          and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)
          and (everywhere or textrawl.is_of_repository(o.repository, (select textrawl.session_repositories())))
        group by coalesce(o.whole, o.id)) observation;
end;

comment on function textrawl.list_observations is
    'The valid observations of an entity, oldest first. The parts of a long observation are joined.';
