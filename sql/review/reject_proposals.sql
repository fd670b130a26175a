create function textrawl.reject_proposals(space integer, proposals uuid[], reason text, origin textrawl.origin)
returns table (id uuid, entity_name text)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    rejected       proposal;
    candidate_kind text;
    dismissed      bigint;  -- the event of a new dismissal; null: it was dismissed before, or it is neither merge nor end
begin
    for rejected in
        select p.* from proposal p
        where p.space_id = reject_proposals.space and p.id = any(proposals) and p.decision is null
        order by p.created_at, p.id for update
    loop
        update proposal p
        set decision = 'rejected', decided_at = clock_timestamp(), decided_by = origin.author_id, reason = reject_proposals.reason
        where p.space_id = reject_proposals.space and p.id = rejected.id;
        candidate_kind := case when rejected.kind = 'merge' then 'same'
                               when rejected.finding in ('disagreement', 'double') then 'close' else 'stale' end;
        dismissed := case when rejected.kind in ('merge', 'end')
                and finding_fault(rejected.space_id, rejected.kind, rejected.one, rejected.other) is null
            then record_dismissal(
                candidate_kind, rejected.one,
                case when candidate_kind = 'stale' then rejected.one else rejected.other end, origin) end;
        perform record_event('rejected', null, null, null, origin, jsonb_strip_nulls(jsonb_build_object(
            'proposal', rejected.id, 'events', case when dismissed is not null then jsonb_build_array(dismissed) end)));
        proposals := array_remove(proposals, rejected.id);
        return query select rejected.id, rejected.entity_name;
    end loop;
    if proposals <> '{}' then
        raise exception using errcode = 'TR016', message = 'the proposal was decided meanwhile', detail = proposals[1]::text;
    end if;
end
$$;

comment on function textrawl.reject_proposals is
    'Reject pending proposals with a reason for their authors. A rejected merge or end is dismissed too, as by '
    'dismiss_candidates(). decide_proposals() calls this after it has checked the rights. Error TR016: decided meanwhile.';
