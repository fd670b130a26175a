create function textrawl.node_description(
    space integer, entity uuid, fact uuid,
    everywhere boolean default false,  -- true: not only local_facts()
    out id uuid, out content text
)
language sql stable parallel safe
begin atomic
    -- Any tool can replace the fact, so follow the replacements. The path stops the walk if they form a circle.
    with recursive successor as (
        select o.id, o.content, o.replaced_by, o.valid_from, o.valid_until, o.closed_at, o.repository, array[o.id] as path
        from textrawl.fact o
        where o.space_id = node_description.space and o.id = node_description.fact and o.entity_id = node_description.entity
        union all
        select o.id, o.content, o.replaced_by, o.valid_from, o.valid_until, o.closed_at, o.repository, s.path || o.id
        from successor s
        join textrawl.fact o on o.space_id = node_description.space and o.id = s.replaced_by
            and o.entity_id = node_description.entity
        where o.id <> all(s.path)
    )
    select s.id, s.content from successor s
    where textrawl.is_valid(s.valid_from, s.valid_until, s.closed_at, present => clock_timestamp())
      and (everywhere or textrawl.is_of_repository(s.repository, (select textrawl.session_repositories())))
    order by cardinality(s.path) desc limit 1;
end;

comment on function textrawl.node_description is
    'The fact that describes a node now: the given fact, or the last valid fact that replaced it. Null if none of them is '
    'valid.';
