create function textrawl.undo_events(
    author integer, since timestamptz, taken bigint[], origin textrawl.origin,
    out undo_id bigint,
    -- Number of rows for each action of plan_undo():
    out removed bigint, out revived bigint, out reset bigint, out moved bigint, out retyped bigint,
    out dropped bigint, out lost bigint, out kept bigint
)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    target_space integer := origin.space_id;
    names jsonb;
    plan  jsonb;
begin
    kept := (select count(*) from plan_kept(target_space, taken));
    taken := undoable_events(target_space, taken);
    names := (select coalesce(jsonb_agg(to_jsonb(n)), '[]') from plan_names(target_space, taken) n where n.kind = 'merge');
    insert into undo as u (space_id, author_id, actor_id, since, events)
    values (target_space, author, origin.author_id, since, taken)
    returning u.id into undo_id;
    perform restore_items(target_space, taken);
    -- Split and repeat merges only after the removal of rows that equal others: a split does not revive a relation that
    -- is valid, and a merge ends one of two equal facts. What the merges change is planned after them.
    for pass in 1 .. case when names = '[]' then 1 else 2 end loop
        select coalesce(jsonb_agg(to_jsonb(p)), '[]') into plan
        from plan_space_undo(target_space, taken) p
        where not exists (
            select from undone d
            where d.space_id = target_space and d.undo_id = undo_events.undo_id and d.id = p.id and d.action = p.action);
        perform keep_undone(target_space, undo_id, plan);
        perform apply_undo(origin, plan);
        if pass = 1 then
            perform undo_merges(names, origin);
        end if;
    end loop;
    -- An entity that was dropped can have had the name of an alias.
    perform undo_aliases(target_space, undo_id);
    perform settle_proposals(target_space, undo_id, array(
        select unnest(u.events) from undo u where u.space_id = target_space and u.reverted_at is null));
    perform record_undone('undone', target_space, undo_id, origin);
    select count(*) filter (where d.action = 'remove'), count(*) filter (where d.action = 'revive'),
        count(*) filter (where d.action = 'reset'), count(*) filter (where d.action = 'move back'),
        count(*) filter (where d.action = 'retype'), count(*) filter (where d.action = 'drop entity')
    into removed, revived, reset, moved, retyped, dropped
    from undone d where d.space_id = target_space and d.undo_id = undo_events.undo_id;
    select count(*) filter (where p.action = 'lost'), kept + count(*) filter (where p.action = 'kept')
    into lost, kept
    from jsonb_to_recordset(plan) p(action text);
end
$$;

comment on function textrawl.undo_events is
    'Undo events of a space, but for those that stay. undo_author() and undo_event() call this after they have locked the '
    'entities.';
