create function textrawl.plan_names(space integer, taken bigint[])
returns table (
    -- As in plan_space_undo(). The kind is alias or merge: a merge that is removed is split, and a merge that is
    -- revived is merged again.
    action text, kind text, id uuid, entity_id uuid,
    -- For a merge: {entity_id (of the merged entity), kept, at, actor, client, tool, request}.
    former jsonb
)
language sql stable
begin atomic
    -- The oldest event says how a name was before.
    with oldest as (
        select distinct on (v.detail ->> 'alias', v.detail ->> 'merge') v.* from textrawl.event v
        where v.space_id = space and v.id = any(taken)
          and (v.action in ('named', 'unnamed') and v.detail ? 'alias' or v.action in ('merged', 'split'))
        order by v.detail ->> 'alias', v.detail ->> 'merge', v.id
    )
    select case v.action when 'named' then 'remove' else 'revive' end, 'alias', a.id, a.entity_id, '{}'::jsonb
    from oldest v join textrawl.entity_alias a on a.space_id = space and a.id = (v.detail ->> 'alias')::uuid
    where (v.action = 'named') = (a.removed_at is null)
    union all
    select case v.action when 'merged' then 'remove' else 'revive' end, 'merge', (v.detail ->> 'merge')::uuid, kept.id,
        jsonb_build_object('entity_id', v.detail -> 'merged', 'kept', v.entity_id, 'at', v.detail -> 'at',
            'actor', first.actor_id, 'client', first.client, 'tool', first.tool, 'request', first.request)
    from oldest v
    cross join lateral (
        select w.* from textrawl.event w
        where w.space_id = space and w.detail ? 'merge' and w.detail ->> 'merge' = v.detail ->> 'merge' order by w.id limit 1) first
    left join textrawl.merge m on m.space_id = space and m.id = (v.detail ->> 'merge')::uuid
    -- Another merge of the plan can have merged the kept entity, and is split first.
    left join textrawl.merge later on later.space_id = space and later.merged_id = v.entity_id
    join textrawl.entity kept on kept.space_id = space and kept.id = coalesce(m.kept_id, later.kept_id, v.entity_id)
    where (v.action = 'merged') = (m.id is not null)
      and (v.action = 'merged'
           or exists (select from textrawl.entity e where e.space_id = space and e.id = (v.detail ->> 'merged')::uuid)
           or exists (select from textrawl.merge g where g.space_id = space and g.merged_id = (v.detail ->> 'merged')::uuid));
end;

comment on function textrawl.plan_names is
    'The aliases and merges that the undo of some events changes.';
