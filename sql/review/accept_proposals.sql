create function textrawl.accept_proposals(space integer, proposals uuid[], origin textrawl.origin)
returns table (id uuid, entity_name text, observation_id uuid, relation_id uuid, duplicate boolean)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    created  jsonb := claim_proposed(space, proposals);
    accepted proposal;
    result   record;
    mark     bigint;
    made     bigint[];
begin
    -- Lock the entities first and the proposals then, like forget_entity() and undo_author().
    for accepted in
        select p.* from proposal p where p.space_id = accept_proposals.space and p.id = any(proposals) and p.decision is null
        order by p.created_at, p.id for update
    loop
        mark := coalesce((select max(e.id) from event e
                          where e.space_id = accept_proposals.space and e.transaction = pg_current_xact_id()), 0);
        result := store_proposal(accepted, origin);
        perform settle_origin(accepted, coalesce(result.observation_id, result.relation_id), result.duplicate, origin);
        -- An undo of the reviewer takes back these events too, although the author of the proposal caused them.
        made := array(select value::bigint from jsonb_array_elements_text(coalesce(created -> accepted.id::text, '[]')) c)
            || array(select e.id from event e
                     where e.space_id = accept_proposals.space and e.transaction = pg_current_xact_id() and e.id > mark order by e.id);
        update proposal p
        set decision = 'accepted', decided_at = clock_timestamp(), decided_by = origin.author_id,
            observation_id = result.observation_id, relation_id = result.relation_id
        where p.space_id = accept_proposals.space and p.id = accepted.id;
        perform record_event('accepted', result.entity_id, result.observation_id, result.relation_id, origin,
            jsonb_build_object('proposal', accepted.id, 'events', to_jsonb(made)));
        proposals := array_remove(proposals, accepted.id);
        return query select accepted.id, result.entity_name, result.observation_id, result.relation_id, result.duplicate;
    end loop;
    if proposals <> '{}' then
        raise exception using errcode = 'TR016', message = 'the proposal was decided meanwhile', detail = proposals[1]::text;
    end if;
end
$$;

comment on function textrawl.accept_proposals is
    'Store pending proposals, oldest first, in the name of their authors. decide_proposals() calls this after it has '
    'checked the rights. Errors: TR016 (decided meanwhile), TR008 (a proposal can no longer be stored).';
