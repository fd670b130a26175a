create function textrawl.undo_aliases(
    space integer, undo bigint, back boolean default false,
    only_removing boolean default false  -- true: use no alias again
) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    step record;
begin
    -- Remove aliases first, because a name can have been moved from one entity to another.
    for step in
        select d.id, (d.action = 'revive') <> back as used, a.entity_id
        from undone d join entity_alias a on a.space_id = d.space_id and a.id = d.id
        where d.space_id = undo_aliases.space and d.undo_id = undo_aliases.undo and d.kind = 'alias'
          and not (only_removing and (d.action = 'revive') <> back)
        order by used, d.id
    loop
        if step.used then
            perform use_alias(undo_aliases.space, step.id);
        else
            update entity_alias a set removed_at = clock_timestamp()
            where a.space_id = undo_aliases.space and a.id = step.id and a.removed_at is null;
        end if;
        perform renew_documents(undo_aliases.space, array[step.entity_id]);
    end loop;
end
$$;

comment on function textrawl.undo_aliases is
    'Remove and revive the aliases of an undo. If "back" is true, reverse this. Lock the entities first.';
