create function textrawl.cluster_members(
    memories uuid[], cohesion double precision,
    space integer default null, credential bytea default null
) returns table (
    memory_id uuid, content text, entity_name text,
    -- Values of the memory that replaces all of them, the same in each row:
    merged_tags text[], merged_entities text[], merged_strength double precision
)
language sql stable security definer rows 12
set search_path from current
begin atomic
    with home as materialized (
        select textrawl.graph_space(credential, cluster_members.space) as id
    ), merged as materialized (
        select v.* from home cross join lateral textrawl.merged_values(home.id, memories, cohesion) v
    )
    select m.observation_id, textrawl.memory_text(m.space_id, m.observation_id), e.name, merged.tags, merged.entities, merged.strength
    from home cross join merged
    cross join lateral textrawl.memory_states(home.id) m
    join textrawl.entity e on e.space_id = m.space_id and e.id = m.entity_id
    where m.observation_id = any(memories)
    order by m.created_at, m.observation_id;
end;

comment on function textrawl.cluster_members is
    'The texts of the members of a cluster, oldest first, and the values of the memory that would replace them. Errors: TR010, TR011 (access). '
    'Example: select content from textrawl.cluster_members(array(select memory_id from textrawl.comparable_memories()), 0.9);';
