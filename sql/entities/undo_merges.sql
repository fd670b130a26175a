create function textrawl.undo_merges(plan jsonb, origin textrawl.origin, back boolean default false) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    step  record;
    kept  uuid;
    space integer := origin.space_id;
    doer  origin := origin;  -- who merged the entities
begin
    -- Split the newest merge first, and merge the oldest first.
    for step in
        select p.id, p.former, forward.value as forward,
            coalesce(find_restored(space, p.entities, (p.former ->> 'kept')::uuid), (p.former ->> 'kept')::uuid) as kept,
            coalesce(find_restored(space, p.entities, (p.former ->> 'entity_id')::uuid), (p.former ->> 'entity_id')::uuid) as merged,
            (p.former ->> 'at')::timestamptz as at
        from jsonb_to_recordset(plan) p (action text, kind text, id uuid, former jsonb, entities jsonb)
        cross join lateral (select (p.action = 'revive') <> back as value) forward
        where p.kind = 'merge'
        order by forward.value, extract(epoch from (p.former ->> 'at')::timestamptz) * case when forward.value then 1 else -1 end
    loop
        -- Look only now, because a merge that was just split can have merged the kept entity.
        kept := coalesce(
            (select m.kept_id from merge m where m.space_id = space and m.merged_id = step.kept and not exists (
                 select from entity e where e.space_id = space and e.id = step.kept)),
            step.kept);
        if not step.forward and exists (select from merge m where m.space_id = space and m.id = step.id) then
            perform part_entities(step.id, origin);
        elsif step.forward and kept <> step.merged
            and 2 = (select count(*) from entity e where e.space_id = space and e.id in (kept, step.merged))
            and not exists (select from merge m where m.space_id = space and m.id = step.id) then
            doer.author_id := (step.former ->> 'actor')::integer;
            doer.client := step.former ->> 'client';
            doer.tool := step.former ->> 'tool';
            doer.request := step.former ->> 'request';
            perform join_entities(kept, step.merged, doer, step.id, step.at);
        end if;
    end loop;
end
$$;

comment on function textrawl.undo_merges is
    'Split and repeat the merges of a plan of plan_names() with the entities of each. If "back" is true, reverse this. '
    'Lock the entities first.';
