create function textrawl.restore_undone(space integer, undo bigint, origin textrawl.origin, out restored bigint, out merged bigint)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    step   undone;
    back    uuid[] := '{}';  -- facts that are as they were before the undo
    changed uuid[] := '{}';  -- nodes and edges that are as the undo left them
    ended  uuid[] := '{}';  -- edges that have the end again that they had before the undo
    stored jsonb;
    own    bigint[] := (select u.events from undo u where u.space_id = restore_undone.space and u.id = restore_undone.undo);
    withdrawn bigint[] := array(
        select unnest(u.events) from undo u where u.space_id = restore_undone.space and u.reverted_at is null and u.id <> restore_undone.undo);
begin
    perform record_undone('restored', restore_undone.space, restore_undone.undo, origin);
    -- Change only rows that are still as the undo left them. End the revived facts before the removed facts are restored.
    -- Otherwise two facts with the same text would be valid.
    for step in
        select d.* from undone d
        where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.kind in ('observation', 'relation', 'entity')
          and d.action in ('revive', 'reset', 'move back', 'retype', 'hand over') and is_as_left(d)
        order by d.id
    loop
        if step.kind = 'observation' then
            perform set_fact(step.space_id, step.id, restored_values(step, step.before));
            back := back || step.id;
            if step.action = 'revive' then
                perform restore_memory(step.space_id, step.id, step.before);
            end if;
        elsif step.action = 'retype' then
            perform set_type(step.space_id, step.id, step.before);
        elsif step.action = 'reset' then
            changed := changed || step.id;
        else
            update relation r
            set valid_until = n.valid_until, closed_at = n.closed_at,
                author_id = n.author_id, client = n.client, tool = n.tool, request = n.request
            from relation present cross join lateral jsonb_populate_record(present, step.before) n
            where present.space_id = step.space_id and present.id = step.id and r.space_id = present.space_id and r.id = present.id;
            ended := ended || step.id;
        end if;
    end loop;
    stored := restore_facts(restore_undone.space, restore_undone.undo);
    -- The successors of these facts are there again.
    perform set_fact(d.space_id, d.id, jsonb_build_object('replaced_by', coalesce(stored ->> (d.before ->> 'replaced_by'), d.before ->> 'replaced_by')))
    from undone d
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.kind = 'observation'
      and d.id = any(back) and d.before ->> 'replaced_by' is not null;
    perform restore_relations(restore_undone.space, restore_undone.undo);
    perform settle_document(c.id, kept_version(restore_undone.space, c.id, withdrawn), origin)
    from undone d
    join document c on c.space_id = restore_undone.space and c.id = d.id
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.kind = 'document';
    perform restore_rows('graph_node', jsonb_build_array(n.value -> 'node' || jsonb_build_object('description_id', f.id)))
    from undone d cross join jsonb_array_elements(d.entities) n
    left join fact f on f.space_id = d.space_id and f.id = (n.value -> 'node' ->> 'description_id')::uuid
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and n.value -> 'node' <> 'null';
    perform restore_rows('graph_change', n.value -> 'changes')
    from undone d cross join jsonb_array_elements(d.entities) n
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo;
    perform restore_rows('graph_edge', jsonb_build_array(d.before -> 'edge')), restore_rows('graph_change', d.before -> 'changes')
    from undone d
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.action = 'remove' and d.kind = 'relation';
    perform set_graph_values(
        restore_undone.space, v.kind, v.id, case when v.id = any(ended) then v.former - 'valid_until' else v.former end)
    from former_values(restore_undone.space, own, '{}', back => true) v where v.id = any(changed);
    perform restore_rows(d.kind, jsonb_build_array(restored_values(d, d.before) || case when d.kind = 'dismissal' then '{}' else
        jsonb_build_object('fts', language_document(space_language(restore_undone.space), d.before ->> 'content'), 'model_id', m.id,
                           'vector', case when m.id is not null then d.before -> 'vector' end) end))
    from undone d left join embedding_model m on m.id = (d.before ->> 'model_id')::integer
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.action = 'remove' and d.kind in ('reflection', 'dismissal');
    perform restore_aliases(restore_undone.space, restore_undone.undo);
    perform undo_aliases(restore_undone.space, restore_undone.undo, back => true);
    perform undo_merges(
        (select coalesce(jsonb_agg(to_jsonb(d) || jsonb_build_object('former', d.before)), '[]') from undone d
         where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.kind = 'merge'),
        origin, back => true);
    perform settle_proposals(restore_undone.space, restore_undone.undo, withdrawn);
    select count(*), count(*) filter (where
        d.kind = 'observation' and not exists (select from observation o where o.space_id = restore_undone.space and o.id = d.id)
        or d.kind = 'relation' and not exists (select from relation r where r.space_id = restore_undone.space and r.id = d.id)
        or d.kind = 'reflection' and not exists (select from reflection f where f.space_id = restore_undone.space and f.id = d.id)
        or d.kind = 'dismissal' and not exists (select from dismissal w where w.space_id = restore_undone.space and w.id = d.id)
        or d.kind = 'proposal' and not exists (select from proposal p where p.space_id = restore_undone.space and p.id = d.id)
        or d.kind = 'document' and not exists (select from document c where c.space_id = restore_undone.space and c.id = d.id)
        or d.kind = 'entity' and not exists (select from entity e where e.space_id = restore_undone.space and e.id = d.id))
    into restored, merged
    from undone d where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo;
    restored := restored - merged;
    delete from undone d where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo;
end
$$;

comment on function textrawl.restore_undone is
    'Restore everything that an undo keeps. revert_undo() calls this after it has checked the rights and claimed the '
    'entities.';
