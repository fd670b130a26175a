create function textrawl.apply_undo(origin textrawl.origin, plan jsonb) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    space   integer := origin.space_id;
    gone    uuid[] := array(select p.id from jsonb_to_recordset(plan) p (action text, id uuid) where p.action = 'remove' and p.id is not null);
    changed uuid[] := array(select p.id from jsonb_to_recordset(plan) p (kind text, id uuid) where p.kind in ('observation', 'relation'));
    step    record;
begin
    perform withdraw_words(space, gone);
    perform claim_rows(space, changed, changed);
    -- Change facts before any deletion, because deleting a fact sets replaced_by to null in the facts that point to it.
    for step in
        select p.* from jsonb_to_recordset(plan) p (action text, kind text, id uuid, former jsonb)
        where p.action not in ('remove', 'drop entity', 'kept', 'lost') and p.kind in ('observation', 'document', 'entity')
        order by p.kind = 'entity', p.id
    loop
        if step.kind = 'observation' then
            perform set_fact(space, step.id, step.former);
            if step.action = 'revive' then
                update retention r
                set status = case when r.promoted_at is null then 'active' else 'promoted' end, ended_at = null
                where r.space_id = space and r.observation_id = step.id and r.status in ('archived', 'removed');
                delete from revision r where r.space_id = space and r.observation_id = step.id;
            end if;
        elsif step.kind = 'document' then
            perform settle_document(step.id, (step.former ->> 'version')::bigint, origin);
        elsif step.action = 'retype' then
            perform set_type(space, step.id, step.former);
        end if;
    end loop;
    delete from reflection f where f.space_id = space and f.id = any(gone);
    delete from dismissal w where w.space_id = space and w.id = any(gone);
    delete from observation o where o.space_id = space and o.id = any(gone) and o.relation_id is null;
    delete from relation r where r.space_id = space and r.id = any(gone);
    update relation r
    set valid_until = (p.former ->> 'valid_until')::timestamptz,
        closed_at = case when (p.former ->> 'valid_until')::timestamptz = r.closed_at then r.closed_at end
    from jsonb_to_recordset(plan) p (action text, kind text, id uuid, former jsonb)
    where p.action = 'revive' and p.kind = 'relation' and r.space_id = space and r.id = p.id;
    perform set_graph_values(space, p.kind, p.id, p.former)
    from jsonb_to_recordset(plan) p (action text, kind text, id uuid, former jsonb)
    where p.action = 'reset' and p.kind in ('entity', 'relation');
    delete from entity e using jsonb_to_recordset(plan) p (action text, id uuid)
    where p.action = 'drop entity' and e.space_id = space and e.id = p.id;
end
$$;

comment on function textrawl.apply_undo is
    'Make the changes of a plan of plan_space_undo(). undo_events() calls this after it has stored what a revert needs.';
