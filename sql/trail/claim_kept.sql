create function textrawl.claim_kept(space integer, undo bigint) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    claimed record;
begin
    -- Lock existing and restored entities together, in the order of their names, like every writer.
    for claimed in
        select entity_key(claim_kept.space, name_key) as name_key, (array_agg(dropped order by dropped is null))[1] as dropped
        from (select unnest(d.names) as name_key, case d.action when 'drop entity' then d.before end as dropped
              from undone d where d.space_id = claim_kept.space and d.undo_id = claim_kept.undo
              union all
              -- If an undone event updated a fact, add the entity of the fact, even if a later update changed the same
              -- values.
              select n.name_key, null
              from undo u
              join event v on v.space_id = u.space_id and v.id = any(u.events) and v.detail ? 'before'
              join observation o on o.space_id = v.space_id and o.id = v.observation_id
              join entity n on n.space_id = o.space_id and n.id = o.entity_id
              where u.space_id = claim_kept.space and u.id = claim_kept.undo) mentioned
        group by 1 order by 1
    loop
        perform from entity e where e.space_id = claim_kept.space and e.name_key = claimed.name_key for update;
        if not found and claimed.dropped is not null then
            perform from jsonb_populate_record(null::entity, claimed.dropped) e
            cross join lateral insert_entity(e.space_id, e.name, e.name_key, e.entity_type, coalesce(e.type_guessed, false),
                                             e.metadata, e.description, e.id, e.created_at, e.updated_at);
        end if;
    end loop;
end
$$;

comment on function textrawl.claim_kept is
    'Restore the entities that an undo dropped, unless their names are taken. Lock all entities of the undo until the '
    'transaction ends.';
