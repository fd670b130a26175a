create function textrawl.plan_names(space integer, taken bigint[], withdrawn bigint[])
returns table (
    -- The columns of plan_space_undo(). The kind is alias or merge: a merge that is removed is split, and a merge that is
    -- revived is merged again.
    action text, kind text, id uuid, entity_id uuid,
    event_id bigint, valid_until timestamptz, replaced_by uuid,
    -- For a merge: {entity_id (of the merged entity), kept, at, actor, client, tool, request, ended (rows of merged)}.
    former jsonb
)
language sql stable
begin atomic
    with own as (
        select distinct v.detail ->> 'alias' as alias, v.detail ->> 'merge' as merge from textrawl.event v
        where v.space_id = space and v.id = any(taken) and v.action in ('named', 'unnamed', 'merged', 'split')
    ), alias as (
        -- The last event that is not withdrawn decides whether an alias is in use. Without one, reverse the first.
        select a.id, a.entity_id, a.removed_at is null as used,
            coalesce(
                (select v.action = 'named' from textrawl.event v
                 where v.space_id = space and v.detail ? 'alias' and v.detail ->> 'alias' = own.alias and v.id <> all(withdrawn)
                 order by v.id desc limit 1),
                (select v.action = 'unnamed' from textrawl.event v
                 where v.space_id = space and v.detail ? 'alias' and v.detail ->> 'alias' = own.alias
                 order by v.id limit 1)) as wanted
        from own join textrawl.entity_alias a on a.space_id = space and a.id = own.alias::uuid
    ), joined as (
        select own.merge::uuid as id, m.id is not null as used,
            coalesce((
                select v.action = 'merged' from textrawl.event v
                where v.space_id = space and v.detail ? 'merge' and v.detail ->> 'merge' = own.merge and v.id <> all(withdrawn)
                order by v.id desc limit 1), false) as wanted,
            -- A later merge can have merged the kept entity into another one.
            coalesce(m.kept_id, later.kept_id, first.entity_id) as kept, first.*
        from own
        cross join lateral (
            select v.entity_id, (v.detail ->> 'merged')::uuid as merged, (v.detail ->> 'at')::timestamptz as at,
                v.actor_id, v.client, v.tool, v.request
            from textrawl.event v
            where v.space_id = space and v.detail ? 'merge' and v.detail ->> 'merge' = own.merge
            order by v.id limit 1) first
        left join textrawl.merge m on m.space_id = space and m.id = own.merge::uuid
        left join textrawl.merge later on later.space_id = space and later.merged_id = first.entity_id
    )
    select case when alias.wanted then 'revive' else 'remove' end as action, 'alias' as kind, alias.id, alias.entity_id,
        null::bigint as event_id, null::timestamptz as valid_until, null::uuid as replaced_by, '{}'::jsonb as former
    from alias where alias.wanted <> alias.used
    union all
    select case when joined.wanted then 'revive' else 'remove' end, 'merge', joined.id, joined.kept, null, null, null,
        jsonb_build_object('entity_id', joined.merged, 'kept', joined.entity_id, 'at', joined.at,
            'actor', joined.actor_id, 'client', joined.client, 'tool', joined.tool, 'request', joined.request,
            'ended', (select coalesce(jsonb_agg(to_jsonb(d)), (
                select v.detail -> 'ended' from textrawl.event v
                where v.space_id = space and v.action = 'split' and v.detail ? 'merge' and v.detail ->> 'merge' = joined.id::text
                order by v.id desc limit 1), '[]') from textrawl.merged d
                      where d.space_id = space and d.merge_id = joined.id))
    from joined
    where joined.wanted <> joined.used and exists (
        select from textrawl.entity e where e.space_id = space and e.id = joined.kept)
      and (not joined.wanted
           or exists (select from textrawl.entity e where e.space_id = space and e.id = joined.merged)
           -- Another merge of the plan has merged the entity, and is split first.
           or exists (select from textrawl.merge m join joined other on other.id = m.id and not other.wanted
                      where m.space_id = space and m.merged_id = joined.merged));
end;

comment on function textrawl.plan_names is
    'The aliases and merges that the undo of some events changes.';
