create function textrawl.later_rows(space integer, merge uuid)
returns table (
    kind text, id uuid,  -- a fact or relation that was written since the merge
    source boolean,      -- true: it belongs to the merged entity as the subject
    target boolean       -- true: the relation leads to the merged entity
)
language sql stable
begin atomic
    with split as (
        select m.kept_id, m.facts, m.sources, m.targets, m.merged_id || m.aliases as aliases
        from textrawl.merge m where m.space_id = space and m.id = later_rows.merge
    )
    -- Start from the facts, because a later merge can have moved them on from the entity that their events name.
    select distinct 'fact', o.id, true, false
    from split m
    -- A subquery is hashed. An array would be read for each fact.
    join textrawl.fact o on o.space_id = space and o.entity_id = m.kept_id and o.id not in (select unnest(s.facts) from split s)
    join textrawl.event v on v.space_id = space and v.observation_id = o.id and v.action in ('remembered', 'replaced')
        and (v.detail ->> 'as')::uuid = any(m.aliases) and coalesce((v.detail ->> 'new')::boolean, true)
    union all
    select 'relation', r.id, bool_or((v.detail ->> 'as')::uuid = any(m.aliases)), bool_or((v.detail ->> 'to_as')::uuid = any(m.aliases))
    from split m
    join textrawl.relation r on r.space_id = space and r.id not in (select unnest(s.sources || s.targets) from split s) and r.id in (
        select f.id from textrawl.relation f where f.space_id = space and f.from_entity = m.kept_id
        union select t.id from textrawl.relation t where t.space_id = space and t.to_entity = m.kept_id)
    join textrawl.event v on v.space_id = space and v.relation_id = r.id and v.action = 'related'
        and ((v.detail ->> 'as')::uuid = any(m.aliases) or (v.detail ->> 'to_as')::uuid = any(m.aliases))
    group by r.id;
end;

comment on function textrawl.later_rows is
    'The facts and relations that were written since a merge under a name of the merged entity. A split moves them to '
    'that entity.';
