create function textrawl.event_rows(event textrawl.event)
returns table (
    kind text,       -- fact, relation, alias, document, proposal, reflection, dismissal, type or node (of an entity),
                     -- move (of an entity), merge or split (of a merged entity)
    id uuid,
    changes boolean  -- false: the event builds on the row without changing it
)
language sql stable
begin atomic
    -- `until` is the former end of a fact that an event replaced. A repeated correction has none.
    select 'fact', event.observation_id,
        event.action in ('remembered', 'updated', 'shared', 'ended', 'faded', 'moved', 'accepted')
            or event.action in ('replaced', 'revised') and event.detail ? 'until' and coalesce((event.detail ->> 'new')::boolean, true)
    where event.observation_id is not null and event.action in (
        'remembered', 'repeated', 'updated', 'replaced', 'revised', 'shared', 'ended', 'faded', 'moved', 'accepted')
    union all
    select 'fact', (event.detail ->> 'replaced')::uuid, event.detail ? 'until' where event.detail ? 'replaced'
    union all
    -- The fact is placed before another one, also by a revision of a fact that was replaced.
    select 'fact', coalesce(event.detail ->> 'placed_before', event.detail ->> 'by')::uuid, false
    where coalesce(event.detail ->> 'placed_before', event.detail ->> 'by') is not null
    union all
    select 'relation', event.relation_id, event.action not in ('repeated', 'reflected')
    where event.relation_id is not null and event.action in (
        'related', 'repeated', 'shared', 'ended', 'described', 'reflected', 'accepted')
    union all
    select key, (event.detail ->> key)::uuid, true
    from unnest(array['alias', 'document', 'proposal', 'reflection', 'dismissal']) key
    where event.detail ? key and event.action not in ('erased', 'forgotten', 'expired', 'outvoted')
    union all
    select case event.action when 'retyped' then 'type' else 'node' end, event.entity_id, true
    where event.action = 'retyped' or event.action = 'described' and event.relation_id is null
    union all
    select 'move', event.entity_id, true where event.action = 'transferred'
    union all
    select case event.action when 'split' then 'split' else 'merge' end, (event.detail ->> 'merged')::uuid, true where event.detail ? 'merge'
    union all
    select m.kind, unnest(array[m.id, m.twin]), false
    from textrawl.merged m
    where m.space_id = event.space_id and event.action = 'merged' and m.merge_id = (event.detail ->> 'merge')::uuid
    union all
    -- A split leaves a relation ended if an equal one is valid.
    select 'relation', unnest(array[(r ->> 'id')::uuid, (r ->> 'twin')::uuid]), false
    from jsonb_array_elements(event.detail -> 'equals') r;
end;

comment on function textrawl.event_rows is
    'The rows that an event changed or that it builds on. An undo takes an event back only if no later event builds on a '
    'row that it changed.';
