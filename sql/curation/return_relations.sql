create function textrawl.return_relations(space integer, undo bigint) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    moving bigint;
begin
    for moving in
        select distinct (d.before ->> 'move')::bigint from undone d
        where d.space_id = return_relations.space and d.undo_id = return_relations.undo and d.action = 'return'
        order by 1 desc
    loop
        perform restore_relations(space, moving, stated => true);
        perform restore_graph(space, moving);
        delete from undone d
        where d.space_id = return_relations.space and d.undo_id = moving and d.action = 'remove' and d.kind = 'relation'
          and is_stated(d.space_id, d.id);
    end loop;
end
$$;

comment on function textrawl.return_relations is
    'Return the relations that moves took away from a space, at the end of the undo that return_facts() began. By then '
    'the undo has removed relations that would be the same.';
