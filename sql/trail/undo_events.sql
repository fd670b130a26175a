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
    plan         jsonb;
begin
    kept := (select count(*) from plan_kept(target_space, taken));
    taken := undoable_events(target_space, taken);
    insert into undo as u (space_id, author_id, actor_id, since, events)
    values (target_space, author, origin.author_id, since, taken)
    returning u.id into undo_id;
    perform restore_items(target_space, taken);
    plan := (select coalesce(jsonb_agg(to_jsonb(p)), '[]') from plan_space_undo(target_space, taken) p);
    perform keep_undone(target_space, undo_id, plan);
    perform apply_undo(origin, plan);
    -- An entity that was dropped can have had the name of an alias.
    perform undo_aliases(target_space, undo_id);
    perform settle_proposals(target_space, undo_id, array(
        select unnest(u.events) from undo u where u.space_id = target_space and u.reverted_at is null));
    perform record_undone('undone', target_space, undo_id, origin);
    select count(*) filter (where p.action = 'remove'), count(*) filter (where p.action = 'revive'),
        count(*) filter (where p.action = 'reset'), count(*) filter (where p.action = 'move back'),
        count(*) filter (where p.action = 'retype'), count(*) filter (where p.action = 'drop entity'),
        count(*) filter (where p.action = 'lost'), kept + count(*) filter (where p.action = 'kept')
    into removed, revived, reset, moved, retyped, dropped, lost, kept
    from jsonb_to_recordset(plan) p (action text);
end
$$;

comment on function textrawl.undo_events is
    'Undo events of a space, but for those that stay. undo_author() and undo_event() call this after they have locked the '
    'entities.';
