create function textrawl.return_facts(
    space integer, undo bigint, taken bigint[], others boolean
) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    moving bigint;
    stored jsonb;
begin
    -- Return the newest move first, because an earlier move can have taken away the same facts.
    for moving in
        select (e.detail ->> 'move')::bigint from event e
        where e.space_id = return_facts.space and e.id = any(taken) and e.action = 'transferred' order by e.id desc
    loop
        perform claim_kept(space, moving);
        -- The undo removes some facts afterwards. They are no duplicates of the returned facts.
        stored := restore_facts(space, moving, array(
            select p.id from plan_space_undo(space, taken, others) p where p.action = 'remove' and p.kind = 'observation'));
        update observation o set replaced_by = coalesce((stored ->> d.id::text)::uuid, d.id)
        from undone d, jsonb_array_elements_text(d.after -> 'replaces') older
        where d.space_id = return_facts.space and d.undo_id = moving and d.action = 'remove' and d.kind = 'observation'
          and jsonb_typeof(d.after -> 'replaces') = 'array'
          and o.space_id = d.space_id and o.id = older.value::uuid and o.replaced_by is null;
        insert into undone (space_id, undo_id, action, kind, id, names, before, after)
        select d.space_id, return_facts.undo, 'return', d.kind, d.id, d.names, jsonb_build_object('move', moving), d.after
        from undone d where d.space_id = return_facts.space and d.undo_id = moving and d.action = 'remove'
        on conflict do nothing;
        delete from undone d
        where d.space_id = return_facts.space and d.undo_id = moving and d.action = 'remove' and d.kind = 'observation';
    end loop;
end
$$;

comment on function textrawl.return_facts is
    'Return the facts that the moves of some events took away from a space. The moves are undone with these events.';
