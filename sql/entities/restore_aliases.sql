create function textrawl.restore_aliases(space integer, undo bigint) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    restored record;
begin
    for restored in
        with kept as (
            select distinct on (alias.value ->> 'id') alias.value, e.id as entity
            from undone d
            cross join lateral jsonb_array_elements(d.entities) entity
            cross join lateral jsonb_array_elements(entity.value -> 'aliases') alias
            join entity e on e.space_id = restore_aliases.space and e.name_key = entity_key(restore_aliases.space, entity.value ->> 'name_key')
            where d.space_id = restore_aliases.space and d.undo_id = restore_aliases.undo
              -- The name of a merged entity is an alias with the id of the entity. The repeated merge adds it.
              and not exists (select from entity n where n.space_id = d.space_id and n.id = (alias.value ->> 'id')::uuid)
        ), added as (
            insert into entity_alias
            select row.* from kept
            cross join lateral jsonb_populate_record(null::entity_alias, kept.value || jsonb_build_object(
                'entity_id', kept.entity, 'removed_at', coalesce(kept.value ->> 'removed_at', now()::text))) row
            on conflict do nothing
            returning id, entity_id
        )
        select added.id, added.entity_id from added join kept on kept.value ->> 'id' = added.id::text
        where kept.value -> 'removed_at' = 'null'
    loop
        perform use_alias(restore_aliases.space, restored.id);
        perform extend_documents(restore_aliases.space, restored.entity_id);
    end loop;
    -- Facts and relations that are restored while their entity is merged belong to the merged entity after a split.
    update merge m set facts = m.facts || d.facts, sources = m.sources || d.sources, targets = m.targets || d.targets
    from (
        select w.id,
            coalesce(array_agg(u.id) filter (where u.kind = 'observation' and u.before ->> 'entity_id' = w.merged_id::text), '{}') as facts,
            coalesce(array_agg(u.id) filter (where u.before ->> 'from_entity' = w.merged_id::text), '{}') as sources,
            coalesce(array_agg(u.id) filter (where u.before ->> 'to_entity' = w.merged_id::text), '{}') as targets
        from merge w join undone u on u.space_id = w.space_id and u.undo_id = restore_aliases.undo and u.action = 'remove'
        where w.space_id = restore_aliases.space group by w.id) d
    where m.space_id = restore_aliases.space and m.id = d.id;
end
$$;

comment on function textrawl.restore_aliases is
    'Restore the aliases of the entities that a revert has created again.';
