create function textrawl.repeat_moves(space integer, undo bigint) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    moving bigint;
begin
    for moving in
        select distinct (d.before ->> 'move')::bigint from undone d
        where d.space_id = repeat_moves.space and d.undo_id = repeat_moves.undo and d.action = 'return' order by 1
    loop
        perform keep_undone(space, moving, (
            select coalesce(jsonb_agg(jsonb_build_object('action', 'remove', 'kind', d.kind, 'id', d.id, 'entity_id', present.entity_id)), '[]')
            from undone d
            cross join lateral (
                select o.entity_id from fact o where o.space_id = d.space_id and o.id = d.id and d.kind = 'observation'
                union all
                select r.from_entity from relation r where r.space_id = d.space_id and r.id = d.id and d.kind = 'relation') present
            where d.space_id = repeat_moves.space and d.undo_id = repeat_moves.undo and d.action = 'return'
              and (d.before ->> 'move')::bigint = moving));
        update undone kept set after = d.after
        from undone d
        where d.space_id = repeat_moves.space and d.undo_id = repeat_moves.undo and d.action = 'return'
          and kept.space_id = d.space_id and kept.undo_id = moving and kept.action = 'remove' and kept.id = d.id;
        perform remove_kept(space, moving);
    end loop;
end
$$;

comment on function textrawl.repeat_moves is
    'Take away again what an undo returned, because the undo is reverted. Rows that are not there are skipped.';
