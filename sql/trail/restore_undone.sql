create function textrawl.restore_undone(space integer, undo bigint, origin textrawl.origin) returns bigint
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    step  undone;
    facts uuid[] := array(
        select d.id from undone d
        where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.action = 'remove' and d.kind = 'observation');
    own   bigint[] := (select u.events from undo u where u.space_id = restore_undone.space and u.id = restore_undone.undo);
    withdrawn bigint[] := array(
        select unnest(u.events) from undo u where u.space_id = restore_undone.space and u.reverted_at is null and u.id <> restore_undone.undo);
    restored  bigint;
begin
    perform record_undone('restored', restore_undone.space, restore_undone.undo, origin);
    -- First end what the undo revived, because a relation without an end must be unique.
    for step in
        select d.* from undone d
        where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.action in ('revive', 'reset', 'move back', 'retype', 'hand over')
        order by d.id
    loop
        if step.kind = 'observation' then
            perform set_fact(step.space_id, step.id, step.before);
        elsif step.action = 'retype' then
            perform set_type(step.space_id, step.id, step.before);
        elsif step.kind = 'relation' then
            update relation r
            set valid_until = n.valid_until, closed_at = n.closed_at,
                author_id = n.author_id, client = n.client, tool = n.tool, request = n.request
            from relation present cross join lateral jsonb_populate_record(present, step.before) n
            where present.space_id = step.space_id and present.id = step.id and r.space_id = present.space_id and r.id = present.id;
        end if;
    end loop;
    insert into observation
    select o.* from undone d
    join entity e on e.space_id = d.space_id and e.id = (d.before ->> 'entity_id')::uuid
    cross join lateral jsonb_populate_record(null::observation, d.before || jsonb_build_object(
        'entity_type', e.entity_type, 'replaced_by', null, 'fts', search_document(
            d.space_id, space_language(d.space_id), document_names(d.space_id, e.id), d.before ->> 'content',
            nullif((d.before ->> 'said_at')::timestamptz, (d.before ->> 'created_at')::timestamptz)))) o
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.id = any(facts);
    perform store_embeddings(restore_undone.space, facts, null, null);
    perform restore_memory(d.space_id, d.id, d.before) from undone d
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.kind = 'observation' and d.action in ('remove', 'revive');
    -- The successors of facts are there again, unless somebody has forgotten them.
    update observation o set replaced_by = next.id
    from undone d join fact next on next.space_id = d.space_id and next.id = (d.before ->> 'replaced_by')::uuid
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.kind = 'observation'
      and o.space_id = d.space_id and o.id = d.id;
    insert into relation
    select r.* from undone d cross join lateral jsonb_populate_record(null::relation, d.before) r
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.action = 'remove' and d.kind = 'relation';
    update observation o set origin = d.before ->> 'origin' from undone d
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.action = 'remove' and d.kind = 'relation'
      and o.space_id = d.space_id and o.id = d.id and d.before ->> 'origin' <> o.origin;
    perform settle_document(d.id, kept_version(d.space_id, d.id, withdrawn), origin)
    from undone d join document c on c.space_id = d.space_id and c.id = d.id
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.kind = 'document';
    perform restore_rows('graph_node', jsonb_build_array(nullif(n.value -> 'node', 'null') || jsonb_build_object('description_id', f.id))),
        restore_rows('graph_change', n.value -> 'changes'),
        -- undo_aliases() uses those again that the undo removed.
        restore_rows('entity_alias', (select jsonb_agg(a || jsonb_build_object('removed_at', coalesce(a ->> 'removed_at', now()::text)))
                                      from jsonb_array_elements(n.value -> 'aliases') a))
    from undone d cross join jsonb_array_elements(d.entities) n
    left join fact f on f.space_id = d.space_id and f.id = (n.value -> 'node' ->> 'description_id')::uuid
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.action = 'drop entity';
    perform restore_rows('graph_edge', jsonb_build_array(d.before -> 'edge')), restore_rows('graph_change', d.before -> 'changes')
    from undone d
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.action = 'remove' and d.kind = 'relation';
    perform set_graph_values(d.space_id, v.kind, v.id, case when exists (
        select from undone e where e.space_id = d.space_id and e.undo_id = d.undo_id and e.id = d.id and e.action = 'revive')
        then v.former - 'valid_until' else v.former end)
    from former_values(restore_undone.space, own, '{}', back => true) v
    join undone d on d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.id = v.id and d.action = 'reset';
    perform restore_rows(d.kind, jsonb_build_array(d.before || case when d.kind = 'dismissal' then '{}' else
        jsonb_build_object('fts', language_document(space_language(restore_undone.space), d.before ->> 'content'), 'model_id', m.id,
                           'vector', case when m.id is not null then d.before -> 'vector' end) end))
    from undone d left join embedding_model m on m.id = (d.before ->> 'model_id')::integer
    where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo and d.action = 'remove' and d.kind in ('reflection', 'dismissal');
    perform undo_aliases(restore_undone.space, restore_undone.undo, back => true);
    perform settle_proposals(restore_undone.space, restore_undone.undo, withdrawn);
    with gone as (
        delete from undone d where d.space_id = restore_undone.space and d.undo_id = restore_undone.undo returning d.id
    )
    select count(*) into restored from gone;
    return restored;
end
$$;

comment on function textrawl.restore_undone is
    'Restore everything that an undo keeps, and return the number of rows. revert_undo() calls this after it has checked '
    'that nobody has touched these rows, and has claimed the entities.';
